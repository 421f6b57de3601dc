"""True positives, false positives, false negatives, and what follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paramedic.diagnosis.benchmark.outcome import Outcome

_ENOUGH_HALVINGS = 100


@dataclass(frozen=True, slots=True)
class Counts:
    """How often what happened. Ratios of nothing are 0: who says nothing has proved nothing."""

    hits: int = 0
    false_alarms: int = 0
    misses: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Counts:
        """All episodes together."""
        every = list(outcomes)
        return cls(
            sum(one.hits for one in every),
            sum(one.false_alarms for one in every),
            sum(one.misses for one in every),
        )

    @property
    def precision(self) -> float:
        """Which share of the accusations was right."""
        return ratio(self.hits, self.hits + self.false_alarms)

    @property
    def recall(self) -> float:
        """Which share of the faulty machines was found."""
        return ratio(self.hits, self.hits + self.misses)

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return ratio(2 * self.hits, 2 * self.hits + self.false_alarms + self.misses)


def ratio(part: float, whole: float) -> float:
    """Part of the whole; 0 of nothing."""
    return part / whole if whole else 0.0


def quantile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that so large a share does not exceed; None of nothing.

    >>> quantile([5, 1, 9], 0.5), quantile([], 0.5)
    (5.0, None)
    """
    if not values:
        return None
    return float(sorted(values)[max(0, math.ceil(share * len(values)) - 1)])


def area_under_precision_recall(counts: Iterable[Counts]) -> float:
    """Of what different thresholds gave: each recall at the best precision that it can be had with.

    What no threshold finds counts for nothing.

    >>> area_under_precision_recall([Counts(3, 3, 1), Counts(2, 0, 2), Counts(1, 1, 3)])
    0.625
    """
    area, best, reached = 0.0, 0.0, 0.0
    for recall, precision in sorted(((one.recall, one.precision) for one in counts), reverse=True):
        area += best * (reached - recall)
        best, reached = max(best, precision), recall
    return area + best * reached


def poisson_upper_bound(count: int, confidence: float = 0.95) -> float:
    """The largest mean at which so few would still be seen once in 1 / (1 - confidence) times.

    >>> round(poisson_upper_bound(0), 3), round(poisson_upper_bound(3), 3)
    (2.996, 7.754)
    """
    low, high = float(count), count + 10.0 * math.sqrt(count + 1.0) + 10.0
    for _ in range(_ENOUGH_HALVINGS):
        middle = (low + high) / 2
        if _at_most(count, middle) > 1.0 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(count: int, mean: float) -> float:
    """The probability that a Poisson count is at most so large."""
    if mean == 0.0:
        return 1.0
    logs = (k * math.log(mean) - mean - math.lgamma(k + 1) for k in range(count + 1))
    return math.fsum(math.exp(one) for one in logs)
