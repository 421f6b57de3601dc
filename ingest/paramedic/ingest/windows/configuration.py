"""Settings of a job's windows."""

from __future__ import annotations

from dataclasses import dataclass

from paramedic.ingest.windows.errors import WindowSettingError

_LEAST_SLOTS = 4


@dataclass(frozen=True, slots=True)
class WindowConfig:
    """How long windows are and how much disorder they bear; seconds of event time.

    Raises WindowSettingError when a value is out of its range.
    """

    sampling_seconds: float = 1.0
    """Seconds between two samples of a source; slots are one second, so anything else is refused
    rather than shown as a window that is mostly holes."""
    slots: int = 60
    """Slots in a window, one second each; at least 4."""
    lateness_seconds: int = 3
    """Allowed lateness: slot `s` closes when half of the live nodes have reached `s` plus this."""
    clock_limit_seconds: float = 5.0
    """A node whose clock is further than this off the median is re-based."""
    clock_settle_seconds: float = 3.0
    """How long, by arrival, a clock must stand off steadily before it is re-based: a backlog that
    is delivered at once looks like a slow clock for a moment and is none."""
    silence_seconds: float = 3.0
    """Without progress for this long, arrival time moves the watermark in place of telemetry."""
    history_slots: int = 15
    """How many closed seconds before the newest `window_at` can still show in full."""
    ahead_slots: int = 60
    """Open slots beyond the allowed lateness; samples that are further ahead are refused."""

    def __post_init__(self) -> None:
        """Refuse what cannot work, naming the setting."""
        if self.sampling_seconds != 1:
            raise WindowSettingError(
                f"sampling_seconds is {self.sampling_seconds}, windows take sources of 1 s only:"
                " let the source sample every second"
            )
        self._at_least("slots", _LEAST_SLOTS)
        self._at_least("history_slots", 1)
        self._at_least("ahead_slots", 1)
        for name in ("lateness_seconds", "silence_seconds", "clock_settle_seconds"):
            self._at_least(name, 0)
        if self.clock_limit_seconds <= self.lateness_seconds:
            raise WindowSettingError(
                f"clock_limit_seconds is {self.clock_limit_seconds}, which must be more than"
                f" lateness_seconds ({self.lateness_seconds}): late samples are no wrong clock"
            )

    @property
    def retained_slots(self) -> int:
        """Closed slots that are kept: a full window for each second of the history."""
        return self.slots + self.history_slots

    @property
    def open_slots(self) -> int:
        """Slots after the newest closed one that can take samples."""
        return self.lateness_seconds + self.ahead_slots

    def _at_least(self, name: str, least: float) -> None:
        value = getattr(self, name)
        if value < least:
            raise WindowSettingError(f"{name} is {value}, it must be at least {least}")
