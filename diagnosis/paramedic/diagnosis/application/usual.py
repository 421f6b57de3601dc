"""What is usual for a series of numbers, by its own recent past, and how odd a higher one is.

A series that goes wrong here goes up, so its noise is learned from its lower half: the distance
from the median down to where a normal value lies one deviation below. What wanders is noisier than
it looks: the deviation is that of a long-run mean, sqrt((1 + r) / (1 - r)) times as large for a
correlation r from one value to the next. Oddness is minus the logarithm of the share of healthy
values that are so high: by a Student distribution with few degrees of freedom, for losses have
heavy tails, and by no more than ranks among the remembered values can tell, unless a value lies
beyond all of them.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise

_KEPT = 128
_RANKS_ASSUMED = 30
"""Before much is remembered, a value above all others is as rare as among so many."""
_LARGEST_NATS = 8.0
"""A single value counts at most so much, however high: three are the least that can decide."""
_LARGEST_CORRELATION = 0.95
_CORRELATION_PRIOR = 16.0
_MEDIAN_ERROR = 1.57
"""Variance of a median relative to that of a mean, for normal noise."""
_ONE_BELOW = 0.1587
"""Share of a normal distribution that lies more than one deviation below its middle."""
_RISE_PER_VALUE = 1 / 64
"""The usual may rise by so much (in deviations), so that no slow rise becomes usual."""
_NEWS_SHARE = 16
"""New values that are fewer than this part of all change little."""
_SETTLED = 64
"""Values after which the usual is known so well that it is held down."""


@dataclass(frozen=True, slots=True)
class Prior:
    """What is assumed of a series before it has been seen."""

    deviation: float
    weight: float
    """As if so many values had been seen."""
    least_values: int
    """Fewer say nothing."""
    freedom: int = 4
    """Degrees of freedom to which values add: fewer, and more of the noise is unknown."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What is usual at one moment."""

    level: float
    deviation: float
    freedom: int
    highest: float

    def nats(self, value: float, at_least_as_high: int, known: int) -> float:
        """How odd a value above the level is, given how many known ones are as high."""
        by_size = _tail_nats((value - self.level) / self.deviation, self.freedom)
        beyond = (value - self.highest) / self.deviation
        by_rank = math.log((known + _RANKS_ASSUMED) / (at_least_as_high + 1))
        if beyond > 0:
            by_rank += _tail_nats(beyond, self.freedom) - math.log(2)
        return max(0.0, min(by_size, by_rank, _LARGEST_NATS))


@dataclass(slots=True)
class Past:
    """The last values of a series, as far as they were healthy."""

    prior: Prior
    values: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    _held: float = math.inf
    """How high the usual may be."""
    _usual: Usual | None = None
    _news: int = 0
    """Values since it was worked out."""

    def learn(self, value: float) -> None:
        """Take a healthy value in."""
        self.values.append(value)
        self._news += 1

    def usual(self) -> Usual | None:
        """None while too little is known; of many values it is worked out only now and then."""
        count = len(self.values)
        if count < self.prior.least_values:
            return None
        if self._usual is None or self._news > count // _NEWS_SHARE:
            self._usual, self._news = self._worked_out(count), 0
        return self._usual

    def _worked_out(self, count: int) -> Usual:
        ordered = sorted(self.values)
        middle = _quantile(ordered, 0.5)
        below = middle - _quantile(ordered, _ONE_BELOW)
        weight = self.prior.weight
        variance = (weight * self.prior.deviation**2 + count / 2 * below**2) / (weight + count / 2)
        wander = _wander(self.values, middle, below)
        deviation = math.sqrt(variance * wander * (1 + _MEDIAN_ERROR / count))
        if count >= _SETTLED:
            rise = self._news * _RISE_PER_VALUE * math.sqrt(variance)
            self._held = middle = min(middle, self._held + rise)
        freedom = max(1, min(4, count - 2 + self.prior.freedom))
        return Usual(middle, max(deviation, 1e-9), freedom, ordered[-1])


def _quantile(ordered: list[float], share: float) -> float:
    """Between neighbours, as numpy does it.

    >>> _quantile([1.0, 2.0, 4.0], 0.75)
    3.0
    """
    place = share * (len(ordered) - 1)
    at = int(place)
    after = ordered[min(at + 1, len(ordered) - 1)]
    return ordered[at] + (place - at) * (after - ordered[at])


def _wander(values: deque[float], middle: float, below: float) -> float:
    """How many times as much the long-run mean varies as that of independent values."""
    reach = 3 * below
    if reach <= 0:
        return 1.0
    off = [min(max(value - middle, -reach), reach) for value in values]
    together = sum(one * following for one, following in pairwise(off))
    alone = sum(one * one for one in off) * (1 + _CORRELATION_PRIOR / len(off))
    correlation = min(_LARGEST_CORRELATION, max(0.0, together / alone)) if alone > 0 else 0.0
    return (1 + correlation) / (1 - correlation)


def _tail_nats(deviations: float, freedom: int) -> float:
    """Minus the logarithm of the upper tail of Student's distribution.

    >>> [round(_tail_nats(4.0, freedom), 2) for freedom in (1, 2, 3, 4)]
    [2.55, 3.55, 4.26, 4.82]
    """
    return -math.log(max(_tail(deviations, freedom), 1e-12))


def _tail(x: float, freedom: int) -> float:
    """The closed forms for one to four degrees of freedom."""
    if freedom == 1:
        return 0.5 - math.atan(x) / math.pi
    if freedom == 2:
        return 0.5 * (1 - x / math.sqrt(2 + x * x))
    if freedom == 3:
        y = x / math.sqrt(3)
        return 0.5 - (math.atan(y) + y / (1 + y * y)) / math.pi
    root = 4 + x * x
    return 0.5 - x / (2 * math.sqrt(root)) * (1 + 2 / root)
