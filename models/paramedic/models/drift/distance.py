"""How far a distribution has moved, and how much of that may be chance.

The distance is Kolmogorov's and Smirnov's, the largest difference of the shares at or below a
point, taken at the points of which training kept its quantiles, so never more than the whole. It
was preferred to a population stability index because its chance is bounded for every sample size
and every distribution, ties and gaps included, and because a person can read it: 0.2 means that a
fifth of the values have gone somewhere else.

With n independent values it differs from the truth by more than `margin` in at most a share
`false_alarm` of all looks (Dvoretzky, Kiefer, Wolfowitz; Massart's constant).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.models.drift.reference import Reference


def distance(counts: NDArray[np.floating], reference: Reference) -> float:
    """From 0, alike, to 1; `counts` are values by grid point. 0 where nothing was counted."""
    total = float(counts.sum())
    if not total:
        return 0.0
    up_to = np.cumsum(counts) / total
    below = up_to - counts / total
    too_high = reference.shares - up_to[reference.points]
    too_low = below[reference.points] - reference.shares
    return float(max(0.0, too_high.max(), too_low.max()))


def margin(samples: float, false_alarm: float) -> float:
    """What chance may do to the distance of so many independent values; 1 at most.

    >>> round(margin(1000, 0.001), 3), margin(0, 0.001)
    (0.062, 1.0)
    """
    if samples <= 0:
        return 1.0
    return min(1.0, math.sqrt(math.log(2 / false_alarm) / (2 * samples)))
