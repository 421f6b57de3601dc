"""When to ask one exporter: once an interval at a moment of its own, rarer while it is away."""

from __future__ import annotations

import math
import zlib


def phase_of(url: str, spread_seconds: float) -> float:
    """The target's own moment within the interval, seconds; the same after every restart."""
    return zlib.crc32(url.encode()) / 2**32 * spread_seconds


class ScrapeSchedule:
    """Gives the moments to ask at; every interval at most one, and none twice."""

    def __init__(
        self, phase_seconds: float, interval_seconds: float, retry_limit_seconds: float
    ) -> None:
        self._phase = phase_seconds
        self._interval = interval_seconds
        self._longest_pause = max(1, math.floor(retry_limit_seconds / interval_seconds))
        self._failures = 0
        self._last: int | None = None
        self.missed = 0
        """Intervals in which the exporter was not asked, though it was not away: too slow."""

    def next_start(self, now_seconds: float) -> float:
        """When to ask next (Unix seconds), not before now. A clock that was set back is followed.

        The moment lies in an interval that has not been asked for yet.
        """
        current = math.floor(now_seconds / self._interval)
        earliest = self._earliest(current)
        slot = max(current, earliest)
        return max(now_seconds, slot * self._interval + self._phase)

    def begin(self, now_seconds: float) -> bool:
        """Ask now? False when the moment's interval has been asked for or is still barred."""
        slot = math.floor(now_seconds / self._interval)
        earliest = self._earliest(slot)
        if slot < earliest:
            return False
        if self._last is not None and slot > earliest and not self._failures:
            self.missed += slot - earliest
        self._last = slot
        return True

    def succeeded(self) -> None:
        """The exporter answered."""
        self._failures = 0

    def failed(self) -> None:
        """It did not: the next pauses are 1, 2, 4 … intervals, up to the limit."""
        self._failures += 1

    def _earliest(self, current: int) -> int:
        if self._last is None:
            return current
        pause = min(2 ** max(0, min(self._failures, 30) - 1), self._longest_pause)
        earliest = self._last + pause
        was_set_back = earliest - current > pause + 1
        return current if was_set_back else earliest
