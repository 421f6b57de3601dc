"""How far the healthy ranks of a job really wander, measured while it runs.

The decision level is only as good as what is assumed of the noise. So the long-run variance of each
rank's deviations is measured: sums over batches, which hold correlation and heavy tails alike. They
are compared with the batch before, so that a rank which is slow all the time adds nothing, and one
batch moves the variance little, so that a rank which becomes slow adds little. And a rank is judged
by what the others show, so that a fault does not raise the level for itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from paramedic.diagnosis.sequential import Noise

    Lines = NDArray[np.float64]

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


class _Field(IntEnum):
    KNOWN = 0
    """1 as soon as the rank has been heard."""
    VARIANCE = 1
    """Long-run, relative to independent noise."""
    BATCHES = 2
    """How many have moved the variance."""
    TOTAL = 3
    SLOTS = 4
    HAS_BEFORE = 5
    BEFORE = 6
    """Sum of the batch before."""


@dataclass(slots=True)
class NoiseMemory:
    """The long-run variance of every rank's deviations by every metric."""

    least: Noise
    """What is assumed: at first, and always at least."""
    cells: CellMemory = field(default_factory=lambda: CellMemory(len(_Field)))

    def arrange(self, rows: tuple[Hashable, ...], metrics: tuple[str, ...]) -> None:
        """Bring the memory into this order of ranks and metrics."""
        self.cells.arrange(rows, metrics)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Of whom something is known, (metric, rank)."""
        return self.cells[_Field.KNOWN] > 0

    def variances(self, metric: int) -> Lines:
        """Of each rank by this metric; 0 where nothing is known."""
        variances: Lines = self.cells[_Field.VARIANCE][metric]
        return variances

    def batches(self, metric: int) -> Lines:
        """How many batches have moved each rank's variance."""
        batches: Lines = self.cells[_Field.BATCHES][metric]
        return batches

    def add(self, metric: int, ranks: NDArray[np.intp], deviations: Lines) -> None:
        """Take one slot of these ranks in; a variance moves with every full batch."""
        lines = self.cells.cells[:, metric]
        newcomers = ranks[lines[_Field.KNOWN, ranks] == 0]
        lines[_Field.KNOWN, newcomers] = 1.0
        lines[_Field.VARIANCE, newcomers] = self.least.wander**2
        lines[_Field.TOTAL, ranks] += deviations
        lines[_Field.SLOTS, ranks] += 1.0
        full = ranks[lines[_Field.SLOTS, ranks] == _BATCH_SLOTS]
        if full.size:
            _close_batch(lines, full)

    def wander_of_others(self, metric: int, ranks: NDArray[np.intp]) -> Lines:
        """For each of these ranks the mean noise of the others, and at least what is assumed.

        It is rounded up.
        """
        variances = self.variances(metric)[ranks]
        if not ranks.size:
            return variances
        total = np.add.accumulate(variances)[-1]  # one after the other, as they come
        others = (total - variances) / max(ranks.size - 1, 1)
        usual = np.sqrt(np.maximum(others, 0.0))
        wander: Lines = np.ceil(np.maximum(usual, self.least.wander) * _STEPS) / _STEPS
        return wander

    def restart(self, kept: NDArray[np.bool_]) -> None:
        """Let go of the batches that have begun, and of all that is not kept, (metric, rank)."""
        cells = self.cells.cells
        cells[:, ~kept] = 0.0
        cells[[_Field.TOTAL, _Field.SLOTS, _Field.HAS_BEFORE, _Field.BEFORE]] = 0.0


def _close_batch(lines: Lines, ranks: NDArray[np.intp]) -> None:
    learning = ranks[lines[_Field.HAS_BEFORE, ranks] > 0]
    change = lines[_Field.TOTAL, learning] - lines[_Field.BEFORE, learning]
    sample = change**2 / (2 * _BATCH_SLOTS)
    lines[_Field.BATCHES, learning] += 1.0
    weight = 1 / np.minimum(lines[_Field.BATCHES, learning] + _ASSUMED_BATCHES, _MEMORY_BATCHES)
    variance = lines[_Field.VARIANCE, learning]
    within = np.minimum(sample, _LARGEST_SAMPLE * variance)
    lines[_Field.VARIANCE, learning] = variance + weight * (within - variance)
    lines[_Field.HAS_BEFORE, ranks] = 1.0
    lines[_Field.BEFORE, ranks] = lines[_Field.TOTAL, ranks]
    lines[_Field.TOTAL, ranks] = lines[_Field.SLOTS, ranks] = 0.0
