"""What is left of a row's difference from its peers when all that is usual with it is taken off.

A row that has always been a little different is no suspect. Its steady difference is learned while
the row is calm, by steps that noise could make, so that a fault which grows slowly is not learned.
As long as it is not known, any ordinary difference is borne with (doubt). And a sensor that stands
still departs because all others move on: it counts with the difference with which its value came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey

    Cells = NDArray[np.float64]

_Cell = TypeVar("_Cell", np.float64, np.bool_)
_FORGIVEN_SHARE = 0.15
"""A steady difference is taken off up to this share of the metric's level …"""
_FORGIVEN_SPREADS = 4.0 / 0.6745
"""… or up to so many times the usual steady difference of a row, whichever is more."""


class _Field(IntEnum):
    STEADY = 0
    SEEN = 1
    """Calm slots."""
    LAST = 2
    CAME = 3
    """The rest with which the present value came."""
    MET = 4
    TOTAL = 5
    """The last running total; NaN stands for none, and is kept as zero with MET_TOTAL."""
    MET_TOTAL = 6


class Rest(NamedTuple):
    """All (metric, row)."""

    rest: Cells
    difference: Cells
    """Before anything was taken off."""
    doubt: Cells
    trust: Cells
    """0..1: how far the row's own past is known."""
    limit: Cells


@dataclass(slots=True)
class Steady:
    """Steady differences of the rows of one kind."""

    memory: CellMemory = field(default_factory=lambda: CellMemory(len(_Field)))

    def arrange(self, rows: tuple[EntityKey, ...], metrics: tuple[str, ...]) -> None:
        """Be about these rows and metrics from now on."""
        self.memory.arrange(rows, metrics)

    @property
    def totals(self) -> Cells:
        """The last running totals, NaN where there was none."""
        met = self.memory[_Field.MET_TOTAL]
        return np.where(met > 0, self.memory[_Field.TOTAL], np.nan)

    def keep_totals(self, totals: Cells) -> None:
        """Remember them."""
        known = ~np.isnan(totals)
        self.memory[_Field.MET_TOTAL][known] = 1.0
        np.copyto(self.memory[_Field.TOTAL], totals, where=known)

    def forget(self, most_slots: float) -> None:
        """The job has begun to do something else: what was learned counts for little."""
        seen = self.memory[_Field.SEEN]
        np.minimum(seen, most_slots, out=seen)

    def rest(
        self, values: Cells, level: Cells, size: Cells, known: NDArray[np.bool_],
        linear: NDArray[np.bool_], trust_slots: float,
    ) -> Rest:  # fmt: skip
        """What is left of the differences; `linear`: whose level scales its differences, (m, 1)."""
        steady = self.memory[_Field.STEADY]
        limit = self._limit(size)
        trust = np.minimum(self.memory[_Field.SEEN] / trust_slots, 1.0)
        forgiven = trust * _within(steady, limit)
        # While the whole job pauses, differences are as much smaller as its level is.
        share = np.minimum(np.abs(level) / np.where(size > 0, size, 1.0), 1.0)
        forgiven = np.where(linear, share * forgiven, forgiven)
        difference = np.where(known, values - level, 0.0)
        # Only ever taken off: who is like its peers has not departed, whatever it was before.
        taken = np.where(difference * forgiven > 0, _within(forgiven, np.abs(difference)), 0.0)
        rest = self._moved(values, difference - taken, known)
        return Rest(rest, difference, (1 - trust) * limit, trust, limit)

    def learn(
        self, rest: Rest, noise: Cells, calm: NDArray[np.bool_], memory_slots: float,
        trust_slots: float,
    ) -> Cells:  # fmt: skip
        """Follow the differences of calm cells; returns how much each weighed.

        `noise` is what a healthy row's slot may depart by.
        """
        seen, steady = self.memory[_Field.SEEN], self.memory[_Field.STEADY]
        seen += calm
        weight = np.where(calm, 1.0 / np.minimum(np.maximum(seen, 1.0), memory_slots), 0.0)
        step = _within(rest.difference, 2 * rest.limit) - steady
        steady += weight * np.where(seen < trust_slots, step, _within(step, noise))
        return weight

    def is_early(self, trust_slots: float) -> NDArray[np.bool_]:
        """Cells of which little is known."""
        return self.memory[_Field.SEEN] < trust_slots

    def _limit(self, size: Cells) -> Cells:
        rows = sample(self.memory[_Field.STEADY])
        usual = np.median(np.abs(rows), axis=1, keepdims=True)
        return np.maximum(_FORGIVEN_SHARE * size, _FORGIVEN_SPREADS * usual)

    def _moved(self, values: Cells, rest: Cells, known: NDArray[np.bool_]) -> Cells:
        """The rest; while a value stands still, at most the one with which it came."""
        last, came = self.memory[_Field.LAST], self.memory[_Field.CAME]
        met = self.memory[_Field.MET]
        changed = known & ((values != last) | (met == 0))
        np.copyto(came, rest, where=changed)
        np.copyto(last, values, where=known)
        met[known] = 1.0
        size = np.minimum(np.abs(rest), np.abs(came))
        return np.where(rest * came > 0, np.sign(rest) * size, 0.0)


_ENOUGH_ROWS = 64


def sample(cells: NDArray[_Cell]) -> NDArray[_Cell]:
    """So many of the rows as tell of all of them."""
    return cells[..., :: max(1, cells.shape[-1] // _ENOUGH_ROWS)]


def _within(numbers: Cells, limit: Cells) -> Cells:
    """The numbers, cut off both ways; np.clip is slow on small arrays."""
    kept: Cells = np.minimum(np.maximum(numbers, -limit), limit)
    return kept
