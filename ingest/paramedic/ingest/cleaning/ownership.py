"""Keeps two names of one metric of one GPU apart: whoever was seen first stays.

dcgm-exporter and another exporter on one node measure the same thing in their own ways; going to
and fro between them would look like a change of the GPU. The second is left out until the first
has been away for a window.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paramedic.ingest.cleaning.rows import Row
from paramedic.ingest.cleaning.units import Booleans, Indices

_NOBODY = -1
_FIRST_SIZE = 1024

Groups = NDArray[np.int32]


class Ownership:
    """Which group of names each metric of each row is taken from."""

    def __init__(self, metrics: Sequence[str], window_seconds: float) -> None:
        self._columns = {metric: at for at, metric in enumerate(metrics)}
        self._window_seconds = window_seconds
        self._rows: dict[Row, int] = {}
        self._owner = np.full(_FIRST_SIZE, _NOBODY, np.int32)
        self._seen_seconds = np.full(_FIRST_SIZE, -np.inf)

    def cell(self, row: Row, metric: str) -> int:
        """The number of one metric of one row."""
        number = self._rows.setdefault(row, len(self._rows))
        cell = number * len(self._columns) + self._columns[metric]
        if cell >= len(self._owner):
            self._grow()
        return cell

    def admit(
        self, cells: Indices, groups: Groups, is_valid: Booleans, now_seconds: float
    ) -> Booleans:
        """Which valid values may be used; the preferred lane of a cell comes first."""
        is_owner = self._owner[cells] == groups
        if not is_owner.all():
            self._seen_seconds[cells[is_valid & is_owner]] = now_seconds
            is_away = np.abs(now_seconds - self._seen_seconds[cells]) > self._window_seconds
            claims = np.flatnonzero(is_valid & ~is_owner & is_away)[::-1]
            # Of several claims for one cell the last written stays: the preferred one.
            self._owner[cells[claims]] = groups[claims]
            is_owner = self._owner[cells] == groups
        admitted: Booleans = is_valid & is_owner
        self._seen_seconds[cells[admitted]] = now_seconds
        return admitted

    def _grow(self) -> None:
        size = len(self._owner)
        self._owner = np.concatenate([self._owner, np.full(size, _NOBODY, np.int32)])
        self._seen_seconds = np.concatenate([self._seen_seconds, np.full(size, -np.inf)])
