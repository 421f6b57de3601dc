"""What a model remembers of every metric of every row, as rows and metrics come and go."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray


@dataclass(slots=True)
class CellMemory:
    """A number for each (field, metric, row); zero for what was never seen."""

    fields: int
    rows: tuple[Hashable, ...] = ()
    metrics: tuple[str, ...] = ()
    cells: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.cells = np.zeros((self.fields, len(self.metrics), len(self.rows)))

    def __getitem__(self, which: IntEnum) -> NDArray[np.float64]:
        """The (metric, row) numbers of a field, to be read and written in place."""
        numbers: NDArray[np.float64] = self.cells[which]
        return numbers

    def line(self, which: IntEnum) -> NDArray[np.float64]:
        """A field by row, of a memory with a single metric."""
        numbers: NDArray[np.float64] = self.cells[which, 0]
        return numbers

    def arrange(self, rows: tuple[Hashable, ...], metrics: tuple[str, ...]) -> None:
        """Bring the cells into this order: newcomers are blank, those who have gone are gone."""
        if rows is self.rows and metrics == self.metrics:
            return
        if (rows, metrics) != (self.rows, self.metrics):
            self._move(_places(self.rows, rows), _places(self.metrics, metrics))
        self.rows, self.metrics = rows, metrics

    def _move(self, rows: _Places, metrics: _Places) -> None:
        cells = np.zeros((self.fields, metrics.total, rows.total))
        if self.cells.size:
            cells[:, metrics.new[:, None], rows.new] = self.cells[:, metrics.old[:, None], rows.old]
        self.cells = cells


@dataclass(frozen=True, slots=True)
class _Places:
    """Where those who stay were, and where they go."""

    old: NDArray[np.intp]
    new: NDArray[np.intp]
    total: int


def _places(before: Sequence[Hashable], after: Sequence[Hashable]) -> _Places:
    known = {one: at for at, one in enumerate(before)}
    pairs = [(known[one], at) for at, one in enumerate(after) if one in known]
    old, new = (np.array([pair[side] for pair in pairs], np.intp) for side in (0, 1))
    return _Places(old, new, len(after))
