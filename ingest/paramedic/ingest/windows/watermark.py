"""Which slots of a job are closed, each named by its first second. It never goes back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.ingest.windows.configuration import WindowConfig


@dataclass(frozen=True, slots=True)
class WatermarkSnapshot:
    """The state of Watermark."""

    origin: int | None = None
    closed: int | None = None
    told: int | None = None
    head: int | None = None
    head_arrived_seconds: float = -math.inf


class Watermark:
    """Follows the head of a job (the newest second that half of the live nodes have reached).

    Nothing is closed before the head is the allowed lateness past the first second of all, so a
    first node with a wrong clock does not make everybody after it late.
    """

    def __init__(self, config: WindowConfig, snapshot: WatermarkSnapshot | None = None) -> None:
        state = snapshot or WatermarkSnapshot()
        self._config = config
        self._kept_seconds = self._seconds(config.retained_slots)
        self._origin = state.origin
        self._closed = state.closed
        self._told = state.told
        self._head = state.head
        self._head_arrived_seconds = state.head_arrived_seconds

    def snapshot(self) -> WatermarkSnapshot:
        """A copy of the state."""
        return WatermarkSnapshot(
            self._origin, self._closed, self._told, self._head, self._head_arrived_seconds
        )

    @property
    def closed(self) -> int | None:
        """The newest closed slot, by its first second; None as long as nothing is closed."""
        return self._closed

    def is_late(self, second: int) -> bool:
        """Whether the second is closed, or lies before the first second of the job."""
        floor = self._floor()
        return floor is not None and second <= floor

    def is_ahead(self, second: int) -> bool:
        """Whether the second is beyond the open slots."""
        floor = self._floor()
        return floor is not None and second > floor + self._seconds(self._config.open_slots)

    def keep_from(self, second: int) -> int:
        """The oldest second that is still of use, when `second` is about to be used."""
        floor = self._floor()
        newest = second if floor is None else floor
        return newest - self._kept_seconds + self._config.sampling_seconds

    def begin_at(self, second: int) -> bool:
        """Note a second that was observed; True if it is so old that everything begins anew."""
        if self._closed is not None or (self._origin is not None and second >= self._origin):
            return False
        anew = self._origin is not None and second <= self._origin - self._kept_seconds
        self._origin = second
        return anew

    def follow(self, head: int | None, arrived_seconds: float, is_progress: bool = False) -> None:
        """Take over what telemetry says the head is now.

        There may be progress that does not move the head: then it is no silence.
        """
        if head is None:
            return
        if head != self._head or is_progress:
            self._head, self._head_arrived_seconds = head, arrived_seconds
        self._close(head - self._config.lateness_seconds)

    def pass_time(self, now_seconds: float, newest: int | None = None) -> None:
        """Without progress for `silence_seconds`, let arrival time take the place of the head.

        Progress comes once in a slot, so silence begins when the next slot is over. It closes no
        second after the `newest`, where one is given.
        """
        if self._head is None:
            return
        borne_with = self._config.silence_seconds + self._config.grid_seconds
        silent_for = now_seconds - self._head_arrived_seconds - borne_with
        if silent_for > 0:
            until = self._head + math.floor(silent_for) - self._config.lateness_seconds
            self._close(until if newest is None else min(until, newest))

    def take_closed(self) -> tuple[list[int], int]:
        """Slots closed since the last call, oldest first, each by its first second.

        Then, how many seconds before them are left out: what is beyond the history, for no full
        window exists any more.
        """
        if self._closed is None or self._told is None:
            return [], 0
        width = self._config.sampling_seconds
        held = self._closed - self._seconds(self._config.history_slots)
        oldest = max(self._told + width, held)
        skipped = oldest - self._told - width
        self._told = self._closed
        return list(range(oldest, self._closed + 1, width)), skipped

    def _floor(self) -> int | None:
        if self._closed is not None:
            return self._closed
        return None if self._origin is None else self._origin - self._config.sampling_seconds

    def _seconds(self, slots: int) -> int:
        return slots * self._config.sampling_seconds

    def _close(self, until: int) -> None:
        """Close the slots that begin in this second or before."""
        second = self._config.on_grid(until)
        if self._origin is None or second < self._origin:
            return
        if self._closed is None:
            self._told = self._origin - self._config.sampling_seconds
        self._closed = second if self._closed is None else max(self._closed, second)
