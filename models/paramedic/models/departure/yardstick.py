"""What the rests of a slot are measured by, and what that makes of them.

Of most cells nobody asks: how odd they are is worked out for those that may be odd at all, and how
far out the others are when somebody is suspected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.models.departure.steady import Rest

    Cells = NDArray[np.float64]

_OWN_MIDDLE = 0.7


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What a slot was measured by."""

    smooth: Cells
    """(pace, metric, row)."""
    rest: Rest
    middle: Cells
    fold: Cells
    """Of the tail; of each row, or of all (pace, metric, 1)."""
    own: Cells
    """By how much each row scatters by itself."""
    holes: NDArray[np.bool_] | None

    def deviation(self, pace: int) -> Cells:
        """(metric, row): signed, in folds of the tail; 0 where nothing is known."""
        smooth = self.smooth[pace]
        size = np.abs(smooth)
        beyond = size if self.rest.is_settled else np.maximum(size - self.rest.doubt, 0.0)
        scale = np.maximum(self.fold[pace], self.own[pace] * self.rest.trust)
        if self.holes is not None:
            np.copyto(scale, 0.0, where=self.holes)
        found = beyond * _inverse(scale)
        signed: Cells = np.copysign(found, smooth, out=found)
        return signed

    def nats(self, beyond: Cells, cells: NDArray[np.intp]) -> Cells:
        """How odd these cells are, which are so far out (flat positions of all)."""
        lines = cells // self.smooth.shape[2]
        own = self.own.ravel()[cells]
        if not self.rest.is_settled:
            own *= np.ravel(self.rest.trust)[cells % self.own[0].size]
        at = lines if self.fold.shape[2] < self.smooth.shape[2] else cells
        middle = np.maximum(self.middle.ravel()[at], _OWN_MIDDLE * own)
        inverse = _inverse(np.maximum(self.fold.ravel()[at], own))
        found = (beyond.ravel()[cells] - middle) * inverse + math.log(2)
        found[inverse == 0] = 0.0
        return found


def _inverse(scale: Cells) -> Cells:
    """1 / scale; 0 where there is none."""
    return np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
