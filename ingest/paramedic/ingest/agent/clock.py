"""The agent's two clocks as a port, with the fake that tests use."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Wall time names the slots; monotonic time is what rates are divided by."""

    def wall_seconds(self) -> float:
        """Unix seconds, UTC; may be set by somebody."""
        ...

    def monotonic_seconds(self) -> float:
        """Seconds that only ever grow."""
        ...


class SystemClock:
    """The machine's clocks."""

    def wall_seconds(self) -> float:
        """Unix seconds, UTC."""
        return time.time()

    def monotonic_seconds(self) -> float:
        """Seconds since some moment in the past."""
        return time.monotonic()


class FakeClock:
    """A clock that stands still until it is moved."""

    def __init__(self, wall_seconds: float) -> None:
        self._wall_seconds = wall_seconds
        self._monotonic_seconds = 0.0

    def wall_seconds(self) -> float:
        """What it was set to, and what passed since."""
        return self._wall_seconds

    def monotonic_seconds(self) -> float:
        """All that passed."""
        return self._monotonic_seconds

    def pass_time(self, seconds: float) -> None:
        """Let time pass on both clocks."""
        self._wall_seconds += seconds
        self._monotonic_seconds += seconds

    def set_wall(self, wall_seconds: float) -> None:
        """Set the wall clock, as an administrator or NTP would."""
        self._wall_seconds = wall_seconds
