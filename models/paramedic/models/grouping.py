"""Rows that belong together, reduced to one; much faster than adding up row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grouping:
    """To which group each row belongs; groups may be empty."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    filled: NDArray[np.intp]
    groups: int

    @classmethod
    def of(cls, places: NDArray[np.intp], groups: int) -> Grouping:
        """`places`: the group of each row."""
        order = np.argsort(places, kind="stable")
        filled, starts = np.unique(places[order], return_index=True)
        return cls(order, starts, filled, groups)

    def reduced(self, operation: np.ufunc, values: Floats) -> Floats:
        """Rows, the first axis, reduced to groups; zero for a group without rows."""
        found = np.zeros((self.groups, *values.shape[1:]))
        if self.filled.size:
            found[self.filled] = operation.reduceat(values[self.order], self.starts, axis=0)
        return found

    def means(self, values: Floats) -> Floats:
        """The mean of each group's rows, NaN left out; NaN where nothing is known."""
        known = ~np.isnan(values)
        total = self.reduced(np.add, np.where(known, values, 0.0))
        count = self.reduced(np.add, known.astype(np.float64))
        return np.where(count > 0, total / np.maximum(count, 1.0), np.nan)
