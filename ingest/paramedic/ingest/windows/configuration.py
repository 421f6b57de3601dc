"""Settings of a job's windows."""

from __future__ import annotations

from dataclasses import dataclass

from paramedic.ingest.windows.errors import WindowSettingError
from paramedic.ingest.windows.slot_array import Room

_LEAST_SLOTS = 4


@dataclass(frozen=True, slots=True)
class WindowConfig:
    """How long windows are and how much disorder they bear; seconds of event time.

    Raises WindowSettingError when a value is out of its range.
    """

    sampling_seconds: int = 1
    """Seconds between two samples of a source, and so the width of a slot. Slots lie on a grid of
    that width and are named by their first second."""
    window_seconds: int = 60
    """How far back a window reaches; it has at least 4 slots all the same."""
    lateness_seconds: int = 3
    """Allowed lateness: slot `s` closes when half of the live nodes have reached `s` plus this."""
    clock_limit_seconds: float = 5.0
    """A node whose clock is further than this off the median is re-based; where slots are wide,
    what the grid adds (a slot's width less a second) is borne with as well."""
    clock_settle_seconds: float = 3.0
    """How long, by arrival, a clock must stand off steadily before it is re-based: a backlog that
    is delivered at once looks like a slow clock for a moment and is none."""
    silence_seconds: float = 3.0
    """Without progress for this long beyond a slot's width, arrival time moves the watermark in
    place of telemetry."""
    history_seconds: int = 15
    """How far before the newest closed slot `window_at` can still show full windows."""
    ahead_seconds: int = 60
    """Samples that are further ahead of the open slots are refused; at least 4 slots."""

    def __post_init__(self) -> None:
        """Refuse what cannot work, naming the setting."""
        if self.sampling_seconds != int(self.sampling_seconds) or self.sampling_seconds < 1:
            raise WindowSettingError(
                f"sampling_seconds is {self.sampling_seconds}, it must be a whole number of"
                " seconds: slots are named by whole seconds"
            )
        self._at_least("window_seconds", _LEAST_SLOTS)
        self._at_least("history_seconds", 1)
        self._at_least("ahead_seconds", 1)
        for name in ("lateness_seconds", "silence_seconds", "clock_settle_seconds"):
            self._at_least(name, 0)
        if self.clock_limit_seconds <= self.lateness_seconds:
            raise WindowSettingError(
                f"clock_limit_seconds is {self.clock_limit_seconds}, which must be more than"
                f" lateness_seconds ({self.lateness_seconds}): late samples are no wrong clock"
            )

    @property
    def slots(self) -> int:
        """Slots in a window."""
        return max(_LEAST_SLOTS, self.slots_in(self.window_seconds))

    @property
    def history_slots(self) -> int:
        """Closed slots before the newest one for which there are full windows."""
        return self.slots_in(self.history_seconds)

    @property
    def retained_slots(self) -> int:
        """Closed slots that are kept: a full window for each slot of the history."""
        return self.slots + self.history_slots

    @property
    def open_slots(self) -> int:
        """Slots after the newest closed one that can take samples."""
        ahead = max(_LEAST_SLOTS, self.slots_in(self.ahead_seconds))
        return self.slots_in(self.lateness_seconds) + ahead

    @property
    def shard_patience_seconds(self) -> int:
        """How far behind a shard may be to be waited for: half of what there is room for."""
        return self.open_slots * self.sampling_seconds // 2

    @property
    def grid_seconds(self) -> int:
        """How long before a sample its slot may have begun."""
        return self.sampling_seconds - 1

    @property
    def room(self) -> Room:
        """For how many slots there has to be room."""
        return Room(self.retained_slots, self.open_slots)

    def on_grid(self, second: int) -> int:
        """The first second of the slot that a second lies in."""
        return second - second % self.sampling_seconds

    def slots_in(self, seconds: int) -> int:
        """How many slots it takes to cover so many seconds."""
        return -(-seconds // self.sampling_seconds)

    def _at_least(self, name: str, least: float) -> None:
        value = getattr(self, name)
        if value < least:
            raise WindowSettingError(f"{name} is {value}, it must be at least {least}")
