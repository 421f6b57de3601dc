"""How sure the figures are: jobs are drawn again with replacement, and F1 is computed anew.

Episodes of one job stay together, because they are no independent witnesses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from paramedic.diagnosis.benchmark.outcome import Outcome

RESAMPLES = 4000
_SEED = 20_241_105


@dataclass(frozen=True, slots=True)
class Interval:
    """95 % of the resamples lie in it."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One detector against another on the same episodes."""

    difference: float
    """F1 of the first minus F1 of the second."""
    low: float
    high: float
    p_value: float
    """Two-sided: how often resampling turns the difference round."""


def f1_interval(outcomes: Sequence[Outcome], resamples: int = RESAMPLES) -> Interval:
    """How far F1 could have come out differently with other jobs of the same kind."""
    counts = _by_job(outcomes)
    f1 = _resampled(counts, _draws(len(counts), resamples))
    low, high = np.quantile(f1, (0.025, 0.975)) if f1.size else (0.0, 0.0)
    return Interval(float(low), float(high))


def compare(
    ours: Sequence[Outcome], theirs: Sequence[Outcome], resamples: int = RESAMPLES
) -> Comparison:
    """Ours against theirs; both on the same episodes, in any order.

    Raises ValueError when the episodes differ.
    """
    if {one.facts.name for one in ours} != {one.facts.name for one in theirs}:
        raise ValueError("a paired comparison needs the same episodes on both sides")
    first, second = _by_job(ours), _by_job(theirs)
    draws = _draws(len(first), resamples)
    differences = _resampled(first, draws) - _resampled(second, draws)
    low, high = np.quantile(differences, (0.025, 0.975)) if differences.size else (0.0, 0.0)
    return Comparison(
        difference=float(_f1(first.sum(axis=0)) - _f1(second.sum(axis=0))),
        low=float(low),
        high=float(high),
        p_value=_p_value(differences),
    )


def _p_value(differences: NDArray[np.float64]) -> float:
    total = differences.size + 1
    below = (1 + int(np.count_nonzero(differences <= 0))) / total
    above = (1 + int(np.count_nonzero(differences >= 0))) / total
    return min(1.0, 2 * min(below, above))


def _by_job(outcomes: Sequence[Outcome]) -> NDArray[np.float64]:
    """Hits, false alarms and misses of each job, in the order of the jobs' names."""
    jobs = sorted({one.facts.job for one in outcomes})
    place = {job: at for at, job in enumerate(jobs)}
    counts = np.zeros((len(jobs), 3))
    for one in outcomes:
        counts[place[one.facts.job]] += (one.hits, one.false_alarms, one.misses)
    return counts


def _draws(jobs: int, resamples: int) -> NDArray[np.float64]:
    """How often each job is drawn in each resample; the same for every detector."""
    if jobs == 0:
        return np.zeros((0, 0))
    random = np.random.default_rng(_SEED)
    drawn = random.multinomial(jobs, np.full(jobs, 1.0 / jobs), size=resamples)
    return drawn.astype(np.float64)


def _resampled(counts: NDArray[np.float64], draws: NDArray[np.float64]) -> NDArray[np.float64]:
    return _f1(draws @ counts) if counts.size else np.zeros(0)


def _f1(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    hits = 2 * counts[..., 0]
    whole = hits + counts[..., 1] + counts[..., 2]
    return np.asarray(np.divide(hits, whole, out=np.zeros_like(whole), where=whole > 0))
