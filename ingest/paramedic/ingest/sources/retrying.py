"""How long to wait for a far side that is away: longer each time, but never very long."""

from __future__ import annotations


class Pauses:
    """The waits between tries (seconds): the first, then twice as long each time, to the limit."""

    def __init__(self, first_seconds: float, limit_seconds: float) -> None:
        self._first = min(first_seconds, limit_seconds)
        self._limit = limit_seconds
        self._next = self._first

    def succeeded(self) -> None:
        """The far side is there."""
        self._next = self._first

    def failed(self) -> float:
        """It is not: how long to wait now."""
        pause = self._next
        self._next = min(2 * pause, self._limit)
        return pause
