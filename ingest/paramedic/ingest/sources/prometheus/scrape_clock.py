"""When one instance is really scraped, and which second each of its scrapes belongs to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from statistics import median

_KEPT = 12  # what is asked for again reaches back so far, at a scrape a second
_TOLERANCE_SECONDS = 0.25


class ScrapeClock:
    """The times of one instance's samples.

    Scrapes come at a moment of their own within the second. Where that lies near the full second,
    a millisecond's jitter must not put two scrapes into one second and none into the next, so
    seconds are counted from the first scrape instead of being cut at full ones.
    """

    def __init__(self) -> None:
        self._anchor: float | None = None
        self._seconds: dict[float, int] = {}
        """The newest scrapes with their seconds, oldest first."""
        self._last_seconds = -math.inf

    @property
    def last_seconds(self) -> float:
        """The newest sample's time; minus infinity before the first."""
        return self._last_seconds

    @property
    def cadence_seconds(self) -> float | None:
        """The usual time between two scrapes; None before the second."""
        gaps = [after - before for before, after in pairwise(self._seconds)]
        return median(gaps) if gaps else None

    def seconds_of(self, times: Iterable[float]) -> Mapping[float, int]:
        """The second of each scrape of an answer.

        They are counted as they happened: an answer tells one series after the other, and a series
        must not turn back the clock for the next.
        """
        return {time_seconds: self.second_of(time_seconds) for time_seconds in sorted(times)}

    def second_of(self, time_seconds: float) -> int:
        """The second of a scrape; the same whenever it is asked for, while it is a recent one."""
        known = self._seconds.get(time_seconds)
        if known is not None:
            return known
        second = self._on_the_beat(time_seconds)
        is_newer = time_seconds > self._last_seconds
        if second is None:
            second = math.floor(time_seconds)
            if is_newer:
                self._anchor = time_seconds
        if is_newer:
            self._keep(time_seconds, second)
        return second

    def _keep(self, time_seconds: float, second: int) -> None:
        self._last_seconds = time_seconds
        self._seconds[time_seconds] = second
        if len(self._seconds) > _KEPT:
            del self._seconds[next(iter(self._seconds))]

    def _on_the_beat(self, time_seconds: float) -> int | None:
        """Counted from the anchor; None where it is too far off the beat."""
        if self._anchor is None:
            return None
        steps = round(time_seconds - self._anchor)
        if abs(time_seconds - self._anchor - steps) > _TOLERANCE_SECONDS:
            return None
        return math.floor(self._anchor) + steps
