"""Time as the supervisor sees it; tests pass a clock of their own."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Two readings of time."""

    def monotonic(self) -> float:
        """Seconds that never jump, for delays."""
        ...

    def now(self) -> datetime:
        """The time of day in UTC, for events."""
        ...


class SystemClock:
    """The machine's clock."""

    def monotonic(self) -> float:
        """Seconds since the machine started."""
        return time.monotonic()

    def now(self) -> datetime:
        """The time of day in UTC."""
        return datetime.now(UTC)
