"""Circles of peers: with whom a row is compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from paramedic.models.leave_one_out import leave_one_out_median, median_over_time

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

_Real = TypeVar("_Real", np.float32, np.float64, np.floating)


@dataclass(frozen=True)
class Circles:
    """Rows that are alike by what they do or where they stand; every row is in one circle."""

    seats: NDArray[np.intp]
    """Positions of rows, (circle, seat); an empty seat holds the number of all rows."""
    rows: int

    @classmethod
    def of(cls, keys: Sequence[Hashable]) -> Circles:
        """Rows with the same key share a circle."""
        members: dict[Hashable, list[int]] = {}
        for at, key in enumerate(keys):
            members.setdefault(key, []).append(at)
        largest = max(map(len, members.values()), default=0)
        seats = np.full((len(members), largest), len(keys), np.intp)
        for circle, rows in zip(seats, members.values(), strict=True):
            circle[: len(rows)] = rows
        return cls(seats, len(keys))

    def members(self, circle: int) -> NDArray[np.intp]:
        """The positions of a circle's rows."""
        seated: NDArray[np.intp] = self.seats[circle]
        return seated[seated < self.rows]

    def fellows(self, row: int) -> NDArray[np.intp]:
        """The positions of the rows in the row's circle, itself among them."""
        return self.members(int(self._places[row]) // self.seats.shape[1])

    def middles(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The median of each circle's rows, from (row, metric) to (circle, metric)."""
        empty = np.full((1, values.shape[1]), np.nan)
        seated = np.concatenate([values, empty])[self.seats]
        return median_over_time(np.moveaxis(seated, 1, -1))

    def highest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest value of each circle's rows."""
        highest: NDArray[np.float64] = np.append(values, -np.inf)[self.seats].max(axis=1)
        return highest

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """Where each row is seated."""
        return np.argsort(self.seats.ravel(), kind="stable")[: self.rows]

    def median_of_others(self, values: NDArray[_Real]) -> NDArray[_Real]:
        """For each (metric, row) the median of the others in the row's circle.

        NaN as in `leave_one_out_median`.
        """
        if len(self.seats) <= 1:
            return leave_one_out_median(values)
        seated = np.take(values, self.seats, axis=1, mode="clip")
        if self.seats.size > self.rows:
            seated[:, self.seats == self.rows] = np.nan
        medians = leave_one_out_median(seated).reshape(len(values), self.seats.size)
        return np.take(medians, self._places, axis=1)
