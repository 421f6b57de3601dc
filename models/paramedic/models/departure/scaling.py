"""Values in the unit in which their differences mean the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.models.departure.character import Characters

    Cells = NDArray[np.float64]

_SHORTEST_LATENCY_SECONDS = 1e-4
"""Below it a latency is as good as none."""
LOGARITHM_SIZE = 5.0
"""Stands for the level of a logarithm, whose own level means nothing."""


def scaled(values: Cells, characters: Characters) -> Cells:
    """(metric, row) values on their scales; NaN stays NaN."""
    found = values.copy()
    if (at := characters.logarithms).size:
        found[at] = np.log(np.maximum(found.take(at, axis=0), 0.0) + _SHORTEST_LATENCY_SECONDS)
    if (at := characters.counts).size:
        rates = found.take(at, axis=0)
        if np.count_nonzero(rates):  # mostly nothing is counted
            found[at] = np.log1p(np.maximum(rates, 0.0))
    return found


def size_of(level: Cells, characters: Characters) -> Cells:
    """What shares of a level are taken of, (metric, 1)."""
    size = level.copy()
    np.copyto(size, LOGARITHM_SIZE, where=characters.logarithm[:, None])
    return np.maximum(size, LOGARITHM_SIZE, out=size, where=characters.counted[:, None])
