"""How odd a row is as a whole, measured by how odd the job's other rows usually are.

A row's deviations are put together into one number, and that is calibrated on the rows of the job
by their ranks: oddness is -ln of the share of healthy row-slots that are as far out, extended
beyond what was seen as an exponential tail. Metrics that move together make every row's number
wider in the same way, so that they are not counted twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.leave_one_out import leave_one_out_quantiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.models.contract import AnomalyScores

_POWER = 4
"""Between the sum of squares (2), which drowns one bad metric in many good ones, and the largest
alone, which is blind to several that agree."""
_SHARES = (1 / 3, 2 / 3)
"""As long as two thirds of the rows are healthy, the tail is measured on healthy ones."""
_TAIL = math.log((1 - _SHARES[0]) / (1 - _SHARES[1]))
"""How many e-folds lie between the two."""
_LEAST_MIDDLE = 1.0
_LEAST_FOLD = 0.5
"""A crowd that agrees perfectly is still given the scatter of one metric of normal noise."""
_LARGEST_WIDENING = 3.0
"""Of a slot in turmoil, against what is usual."""
_LARGEST_GROWTH = 2.0
"""What one slot can teach, against what is usual."""
_FEWEST_ROWS = 3


def departure_of(scores: AnomalyScores) -> NDArray[np.float64]:
    """One number a row, in standard deviations of a single metric; NaN where nothing is known."""
    known = ~np.isnan(scores.deviation)
    squares = np.square(np.where(known, scores.deviation, 0.0))
    total = np.sqrt(np.sqrt(np.sum(np.square(squares), axis=1)))
    return np.where(known.any(axis=1), total, np.nan)


@dataclass(slots=True)
class Oddness:
    """The running calibration of one kind of rows."""

    memory_slots: float
    slots: int = 0
    middle: float = _LEAST_MIDDLE
    """What a third of the rows do not exceed."""
    fold: float = _LEAST_FOLD
    """By how much more the number is that only a share of 1/e of them exceeds."""

    def weigh(self, departure: NDArray[np.float64]) -> NDArray[np.float64]:
        """-ln of the share of row-slots as far out, row by row; the slot is added to what is known.

        A row takes no part in its own yardstick of this slot.
        """
        if np.count_nonzero(~np.isnan(departure)) < _FEWEST_ROWS:
            return np.full(departure.shape, np.nan)
        middle, upper = leave_one_out_quantiles(departure, _SHARES)
        fold = (upper - middle) / _TAIL
        self._learn(float(np.nanmedian(middle)), float(np.nanmedian(fold)))
        at = _widened(middle, self.middle)
        wide = _widened(fold, self.fold)
        return (departure - at) / wide - math.log(1 - _SHARES[0])

    def _learn(self, middle: float, fold: float) -> None:
        self.slots += 1
        weight = 1 / min(self.slots, self.memory_slots)
        middle = min(max(middle, _LEAST_MIDDLE), _LARGEST_GROWTH * self.middle)
        fold = min(max(fold, _LEAST_FOLD), _LARGEST_GROWTH * self.fold)
        self.middle += weight * (middle - self.middle)
        self.fold += weight * (fold - self.fold)


def _widened(now: NDArray[np.float64], usual: float) -> NDArray[np.float64]:
    return np.minimum(np.maximum(now, usual), _LARGEST_WIDENING * usual)
