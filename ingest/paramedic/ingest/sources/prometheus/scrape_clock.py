"""When one instance is really scraped, and which second each of its scrapes belongs to."""

from __future__ import annotations

import math
from collections import deque
from itertools import pairwise
from statistics import median

_KEPT = 9
_TOLERANCE_SECONDS = 0.25


class ScrapeClock:
    """The times of one instance's samples.

    Scrapes come at a moment of their own within the second. Where that lies near the full second,
    a millisecond's jitter must not put two scrapes into one second and none into the next, so
    seconds are counted from the first scrape instead of being cut at full ones.
    """

    def __init__(self) -> None:
        self._anchor: float | None = None
        self._times: deque[float] = deque(maxlen=_KEPT)
        self._second = 0

    @property
    def last_seconds(self) -> float:
        """The newest sample's time; minus infinity before the first."""
        return self._times[-1] if self._times else -math.inf

    @property
    def cadence_seconds(self) -> float | None:
        """The usual time between two scrapes; None before the second."""
        times = list(self._times)
        gaps = [after - before for before, after in pairwise(times)]
        return median(gaps) if gaps else None

    def second_of(self, time_seconds: float) -> int:
        """The second of a sample."""
        if self._times and time_seconds == self._times[-1]:
            return self._second
        second = self._counted(time_seconds)
        if time_seconds > self.last_seconds:
            self._times.append(time_seconds)
            self._second = second
        return second

    def _counted(self, time_seconds: float) -> int:
        if self._anchor is not None:
            steps = round(time_seconds - self._anchor)
            if abs(time_seconds - self._anchor - steps) <= _TOLERANCE_SECONDS:
                return math.floor(self._anchor) + steps
        self._anchor = time_seconds
        return math.floor(time_seconds)
