"""How often a source really says something new, and the grid that follows from it."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

GRIDS = (1, 2, 5, 10, 15, 30, 60)
"""The widths of a slot that a job can have, in seconds."""
_SAMPLES_KEPT = 8
_SAMPLES_NEEDED = 4
_TOLERANCE = 0.9
"""A grid may be this much narrower than the samples are apart: scrapes jitter."""


@dataclass(slots=True)
class Pulse:
    """The newest seconds in which one node said something new at one origin (Unix seconds)."""

    seconds: list[int] = field(default_factory=list)
    """In order, whatever the order in which they came."""

    def beat(self, second: int) -> None:
        """A new sample of this second."""
        if second not in self.seconds:
            insort(self.seconds, second)
            del self.seconds[:-_SAMPLES_KEPT]

    @property
    def interval_seconds(self) -> float | None:
        """The usual time between two samples; None before it is known."""
        if len(self.seconds) < _SAMPLES_NEEDED:
            return None
        return median(after - before for before, after in pairwise(self.seconds))


def grid_of(pulses: Iterable[Pulse]) -> int | None:
    """The grid of a job with these pulses: that of the middle one.

    None as long as fewer than half of them are known.
    """
    intervals = [pulse.interval_seconds for pulse in pulses]
    known = [interval for interval in intervals if interval is not None]
    if not known or 2 * len(known) < len(intervals):
        return None
    return grid_for(median(known))


def grid_for(interval_seconds: float) -> int:
    """The narrowest grid whose every slot gets a sample; at most the widest there is.

    >>> [grid_for(interval) for interval in (1, 1.5, 10, 11, 14, 16, 29, 300)]
    [1, 2, 10, 10, 15, 15, 30, 60]
    """
    wide_enough = (grid for grid in GRIDS if grid >= _TOLERANCE * interval_seconds)
    return next(wide_enough, GRIDS[-1])


def slot_of(second: int, sampling_seconds: int) -> int:
    """The second under which a sample is published: the beginning of its slot.

    >>> slot_of(1_000_004, 5), slot_of(1_000_004, 1)
    (1000000, 1000004)
    """
    return second - second % sampling_seconds
