"""When to sample: at every full second of the wall clock, without drift."""

from __future__ import annotations

import math


class TickSchedule:
    """Gives the next full second; seconds that passed unnoticed are skipped and counted."""

    def __init__(self) -> None:
        self._last: int | None = None
        self.missed = 0
        """Full seconds that passed while the agent was busy or stopped."""

    def next_tick(self, now_seconds: float) -> int:
        """The full second to wait for. A clock that was set back is followed."""
        upcoming = math.floor(now_seconds) + 1
        if self._last is not None:
            if upcoming == self._last:
                upcoming += 1
            self.missed += max(0, upcoming - self._last - 1)
        self._last = upcoming
        return upcoming
