"""When the collectives of a step began and ended, and how many bytes they carried."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class CollectiveTimes:
    """The collectives since the log was last drained."""

    durations_seconds: tuple[float, ...]
    """From the call to the end, one for each collective that ended."""
    exposed_seconds: float
    """Last end minus last begin: what the step had to wait when nothing was left to compute."""
    bytes_carried: int


class CollectiveLog:
    """Filled by the group from any thread, drained once a step by the main thread."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        self._durations: list[float] = []
        self._last_begin: float | None = None
        self._last_end: float | None = None
        self._bytes = 0

    def begin(self, size_bytes: int) -> float:
        """A collective is handed to the backend. Returns the time, for `end`."""
        now = self._clock()
        with self._lock:
            self._last_begin = now
            self._bytes += size_bytes
        return now

    def end(self, began: float) -> None:
        """That collective has ended."""
        now = self._clock()
        with self._lock:
            self._durations.append(now - began)
            self._last_end = now

    def drain(self) -> CollectiveTimes:
        """What was noted since the last call."""
        with self._lock:
            exposed = 0.0
            if self._last_begin is not None and self._last_end is not None:
                exposed = max(0.0, self._last_end - self._last_begin)
            times = CollectiveTimes(tuple(self._durations), exposed, self._bytes)
            self._clear()
        return times
