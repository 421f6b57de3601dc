"""What running totals grow by, slot after slot, also where they are read anew only now and then.

An exporter that asks its source every 5 or 30 s (dcgm-exporter's default) shows the same total
until then, and all that came meanwhile in one slot. Where a total grows by more than one a slot and
stood still in between, its growth is spread: the rate that was found holds until the next reading
is due.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    Cells = NDArray[np.float64]

_LONGEST_SLOTS = 60
"""What comes more seldom is no reading that is due, but another event."""
_FEWEST_A_SLOT = 1.0
"""What comes more seldom than every slot may well have come when it was seen."""


class _Field(IntEnum):
    TOTAL = 0
    MET = 1
    """Whether there was a total at all."""
    SINCE = 2
    """Slots since it grew; 0 where it never did."""
    RATE = 3
    HELD = 4
    """For so many slots more the rate holds."""


@dataclass(slots=True)
class Growth:
    """The totals of the rows of one kind."""

    _memory: CellMemory = field(default_factory=lambda: CellMemory(len(_Field)))

    def of(self, totals: Cells, rows: tuple[Hashable, ...], metrics: tuple[str, ...]) -> Cells:
        """Growth in this slot of (metric, row) totals; NaN where it is not known.

        Totals may be NaN, what they grew by meanwhile comes with the next. A total that begins anew
        has grown by nothing.
        """
        self._memory.arrange(rows, metrics)
        total, met, since, rate, held = (self._memory[one] for one in _Field)
        is_same = (totals == total) & (met > 0)
        if np.count_nonzero(is_same) == is_same.size and not np.count_nonzero(held):
            since += since > 0  # as in most slots: nothing has grown
            return np.zeros(totals.shape)
        growth = np.where(met > 0, np.maximum(totals - total, 0.0), np.nan)
        seen = ~np.isnan(totals)
        met[seen] = 1.0
        np.copyto(total, totals, where=seen)
        grew = growth > 0
        slots = np.where(grew & (since > 0) & (since <= _LONGEST_SLOTS), since, 1.0)
        np.copyto(rate, growth / slots, where=grew)
        spread = grew & (rate >= _FEWEST_A_SLOT)
        holds = ~grew & (held > 0)
        held -= holds
        np.copyto(held, np.where(spread & (slots > 1), slots, 0.0), where=grew)
        since += since > 0
        since[grew] = 1.0
        return np.where(spread | (holds & ~np.isnan(growth)), rate, growth)
