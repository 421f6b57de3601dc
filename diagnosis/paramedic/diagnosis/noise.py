"""How far the healthy ranks of a job really wander, measured while it runs.

The decision level is only as good as what is assumed of the noise. So the long-run variance of each
rank's deviations is measured: sums over batches, which hold correlation and heavy tails alike. They
are compared with the batch before, so that a rank which is slow all the time adds nothing, and one
batch moves the variance little, so that a rank which becomes slow adds little. And a rank is judged
by what the others show, so that a fault does not raise the level for itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from paramedic.diagnosis.sequential import Noise

_BATCH_SLOTS = 20
"""Longer than healthy noise stays correlated."""
_ASSUMED_BATCHES = 5
"""What is assumed of the noise counts as much as so many batches."""
_MEMORY_BATCHES = 30
"""Ten minutes."""
_LARGEST_SAMPLE = 8.0
"""One batch counts as at most so many times the variance; noise is beyond it once in 200."""
_STEPS = 10
"""Wander is rounded up to tenths, so that a level is computed once."""


@dataclass(slots=True)
class Wander:
    """The long-run variance of one rank's deviations, relative to independent noise."""

    variance: float
    """What is assumed at first."""
    batches: int = 0
    _total: float = 0.0
    _slots: int = 0
    _before: float | None = None
    """Sum of the batch before."""

    def add(self, deviation: float) -> None:
        """Take one slot in; the variance moves with every full batch."""
        self._total += deviation
        self._slots += 1
        if self._slots == _BATCH_SLOTS:
            if self._before is not None:
                self._learn((self._total - self._before) ** 2 / (2 * _BATCH_SLOTS))
            self._before, self._total, self._slots = self._total, 0.0, 0

    def restart(self) -> None:
        """Let go of the batches that have begun; what was learned stays."""
        self._before, self._total, self._slots = None, 0.0, 0

    def _learn(self, sample: float) -> None:
        self.batches += 1
        weight = 1 / min(self.batches + _ASSUMED_BATCHES, _MEMORY_BATCHES)
        self.variance += weight * (min(sample, _LARGEST_SAMPLE * self.variance) - self.variance)


def noise_of_others(wanders: list[Wander], least: Noise) -> list[Noise]:
    """For each rank the mean noise of the others, and at least what is assumed."""
    total, others = sum(wander.variance for wander in wanders), max(len(wanders) - 1, 1)
    return [_rounded_up((total - wander.variance) / others, least) for wander in wanders]


def _rounded_up(variance: float, least: Noise) -> Noise:
    return Noise(math.ceil(max(math.sqrt(variance), least.wander) * _STEPS) / _STEPS)
