"""Values as they can be compared: totals as growth, counts on a bent scale, absence as a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.pattern.metric_kinds import Family, family_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Values = NDArray[np.floating]


class Reader:
    """Reads slot after slot; remembers totals and for how long a row has been away."""

    def __init__(self, metrics: Sequence[str], rows: int) -> None:
        """`metrics`: the panel's, absence last."""
        families = [family_of(one) for one in metrics]
        self._growth = np.flatnonzero([one is Family.GROWTH for one in families])
        self._counts = np.flatnonzero([one in (Family.COUNT, Family.GROWTH) for one in families])
        self._last = np.full((self._growth.size, rows), np.nan)
        self._away = np.zeros(rows)
        self._has_come = np.zeros(rows, np.bool_)

    def read(self, values: Values) -> Values:
        """(slots, metrics, rows) without absence to the same with absence."""
        slots, metrics, rows = values.shape
        read = np.empty((slots, metrics + 1, rows), values.dtype)
        read[:, :-1] = values
        is_here: NDArray[np.bool_] = np.any(~np.isnan(values), axis=1)
        read[:, -1] = self._absence(is_here)
        if self._growth.size:
            read[:, self._growth] = self._grown(values[:, self._growth])
        if self._counts.size:
            read[:, self._counts] = np.log1p(np.maximum(read[:, self._counts], 0))
        return read

    def _absence(self, is_here: NDArray[np.bool_]) -> Floats:
        """The logarithm of for how many slots a row has not been seen; NaN until it has come."""
        away = np.zeros(is_here.shape)
        if is_here.all():
            self._has_come[:], self._away[:] = True, 0
            return away
        for slot, here in enumerate(is_here):
            self._has_come |= here
            self._away = np.where(here, 0.0, self._away + 1)
            away[slot] = np.where(self._has_come, self._away, np.nan)
        return np.log1p(away)

    def _grown(self, totals: Values) -> Values:
        """What totals grew by since they were last seen; one that fell has begun anew."""
        grown = np.empty_like(totals)
        unknown = np.isnan(totals)
        for slot, total in enumerate(totals):
            np.subtract(total, self._last, out=grown[slot])
            self._last = np.where(unknown[slot], self._last, total)
        np.copyto(grown, 0, where=grown < 0)
        return grown
