"""Rows that belong together, reduced to one; much faster than adding up row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Real = TypeVar("_Real", np.float32, np.float64, np.floating)


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

    def reduced(self, operation: np.ufunc, values: NDArray[_Real]) -> NDArray[_Real]:
        """Rows, the first axis, reduced to groups; zero for a group without rows."""
        found = np.zeros((self.groups, *values.shape[1:]), values.dtype)
        if self.filled.size:
            found[self.filled] = operation.reduceat(values[self.order], self.starts, axis=0)
        return found

    def means(self, values: NDArray[_Real]) -> NDArray[_Real]:
        """The mean of each group's rows, NaN left out; NaN where nothing is known."""
        unknown = np.isnan(values)
        if not unknown.any() and self.filled.size == self.groups:
            sizes = np.diff(self.starts, append=len(self.order)).astype(values.dtype)
            return self.reduced(np.add, values) / sizes.reshape(-1, *(1,) * (values.ndim - 1))
        total = self.reduced(np.add, np.where(unknown, 0, values))
        count = self.reduced(np.add, (~unknown).astype(values.dtype))
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)
