"""How odd a smoothed rest is, measured by how much the rests of all rows scatter.

At each pace a row's rest is averaged and compared with the averages of the job's other rows, now
and in the past, and with its own. Oddness is counted in nats: -ln of the share of healthy
row-slots that are as far out, from two quantiles extended as an exponential tail, and corrected by
how often rows were really farther out than that tail says. Averages are compared with averages, so
noise that lasts from second to second needs no model: it has less to lose by averaging.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paramedic.models.cell_memory import CellMemory
from paramedic.models.departure.steady import sample
from paramedic.models.leave_one_out import (
    entry_at,
    leave_one_out_quantiles,
    median_over_time,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey
    from paramedic.models.departure.steady import Rest

    Cells = NDArray[np.float64]

_MIDDLE, _UPPER = 0.5, 0.85
_SMALL = 48
"""Of so few rows each is left out of its own yardstick."""
_FEWEST_ROWS = 3
"""One of two rows is not known by the other."""
_LEAST_UPPER = 0.65
_FOLD_OF_MIDDLE = 1.2
"""With too few rows for an upper quantile the tail is as wide as this many middles."""
_FLOOR_FOLD = 0.6
_OWN_MIDDLE = 0.7
_LARGEST_WIDENING = 5.0
"""A slot in turmoil counts as so many times the usual scatter at most."""
_LARGEST_GROWTH = 2.0
"""What one slot can teach, against what is usual."""
_LARGEST_JUMPS = (12.0, 4.0)
"""One slot moves an average by at most so many upper quantiles: of the quickest pace, of others."""
_FEW_SLOTS = 30
_MARKS = (4.0, 8.0)
"""In nats: there the tail is checked against what is seen."""


class _Cell(IntEnum):
    """Of every pace."""

    SMOOTH = 0
    OWN = 1


class _Crowd(IntEnum):
    """Of every pace, for all rows together."""

    MIDDLE = 0
    UPPER = 1
    BEYOND_FIRST = 2
    BEYOND_SECOND = 3


class Odd(NamedTuple):
    """(pace, metric, row)."""

    nats: Cells
    deviation: Cells
    """Signed, in folds of the tail."""


@dataclass(slots=True)
class Scatter:
    """Averages and their scatter at all paces, for the rows of one kind."""

    paces: int
    _cells: CellMemory = field(init=False)
    _crowd: CellMemory = field(init=False)

    def __post_init__(self) -> None:
        self._cells = CellMemory(len(_Cell) * self.paces)
        self._crowd = CellMemory(len(_Crowd) * self.paces)

    def arrange(self, rows: tuple[EntityKey, ...], metrics: tuple[str, ...]) -> None:
        """Be about these rows and metrics from now on."""
        self._cells.arrange(rows, metrics)
        self._crowd.arrange(_ALL, metrics)

    def restart(self) -> None:
        """Nothing of before speaks of now; how much rows scatter is still known."""
        if self._cells.cells.size:
            self._of(_Cell.SMOOTH)[:] = 0.0

    def weigh(
        self, rest: Rest, known: NDArray[np.bool_], floor: Cells, smoothing: Cells,
        slots: int, memory_slots: float,
    ) -> Odd:  # fmt: skip
        """Add a slot; `floor` (metric, 1) and `smoothing` (pace, 1, 1) in slots."""
        smooth, holes = self._of(_Cell.SMOOTH), None if known.all() else ~known
        step = self._limited(rest, floor, smoothing, slots) - smooth
        if holes is not None:
            step[:, holes] = 0.0
        step /= smoothing
        smooth += step
        size = np.abs(smooth, out=step)
        weight = 1.0 / min(slots + 1, memory_slots)
        middle, fold = self._yardstick(size, holes, floor, weight)
        own = self._of(_Cell.OWN) * rest.trust
        inverse = _inverse(np.maximum(fold, own), holes)
        own *= _OWN_MIDDLE
        middle = np.maximum(middle, own, out=own)
        beyond = np.subtract(size, rest.doubt, out=size)
        np.maximum(beyond, 0.0, out=beyond)
        nats = np.subtract(beyond, middle, out=middle)
        nats *= inverse
        nats += math.log(2)
        if not inverse.all():
            nats[inverse == 0] = 0.0
        self._correct(nats, known, slots, 1.0 / memory_slots)
        deviation = np.multiply(beyond, inverse, out=beyond)
        return Odd(nats, np.copysign(deviation, smooth, out=deviation))

    def learn(self, weight: Cells, early: NDArray[np.bool_], floor: Cells) -> None:
        """Follow how much calm rows scatter by themselves; a fault adds little to it."""
        own, size = self._of(_Cell.OWN), np.abs(self._of(_Cell.SMOOTH))
        usual = np.maximum(own, np.maximum(self._all(_Crowd.MIDDLE), _FLOOR_FOLD * floor))
        usual *= _LARGEST_GROWTH
        step = np.minimum(size, usual, out=usual)
        np.copyto(step, size, where=early)
        step -= own
        step *= weight
        own += step

    def noise(self, floor: Cells) -> Cells:
        """By how much a healthy row's slot may depart, at the quickest pace."""
        crowd = np.maximum(self._all(_Crowd.UPPER)[0], floor)
        widest: Cells = np.maximum(crowd, self._of(_Cell.OWN)[0])
        return 3.0 * widest

    def _of(self, which: _Cell) -> Cells:
        cells: Cells = self._cells.cells[which * self.paces : (which + 1) * self.paces]
        return cells

    def _all(self, which: _Crowd) -> Cells:
        cells: Cells = self._crowd.cells[which * self.paces : (which + 1) * self.paces]
        return cells

    def _limited(self, rest: Rest, floor: Cells, smoothing: Cells, slots: int) -> Cells:
        if slots < _FEW_SLOTS:
            return rest.rest[None]
        quick, slow = _LARGEST_JUMPS
        jumps = np.where(smoothing < 2, quick, slow) * smoothing
        limit = jumps * np.maximum(self._all(_Crowd.UPPER), floor) + rest.doubt
        kept = np.negative(limit)
        np.maximum(rest.rest, kept, out=kept)
        return np.minimum(kept, limit, out=kept)

    def _yardstick(
        self, size: Cells, holes: NDArray[np.bool_] | None, floor: Cells, weight: float
    ) -> tuple[Cells, Cells]:
        """Middle and fold of the tail that each row is measured by."""
        rows = size.shape[-1]
        upper = min(_UPPER, (max(rows - 1, 1) - 1.5) / max(rows - 1, 1))
        mine = _quantiles(size, holes, (_MIDDLE, max(upper, _MIDDLE)))
        is_fresh = self._all(_Crowd.MIDDLE) + self._all(_Crowd.UPPER) == 0
        found = []
        for which, now in zip((_Crowd.MIDDLE, _Crowd.UPPER), mine, strict=True):
            usual = self._follow(which, now, holes, floor, np.where(is_fresh, 1.0, weight))
            widest = _LARGEST_WIDENING * np.maximum(usual, floor)
            found.append(np.maximum(usual, np.minimum(now, widest)))
        middle, top = found
        if upper < _LEAST_UPPER:
            fold = _FOLD_OF_MIDDLE * middle
        else:
            fold = (top - middle) / math.log((1 - _MIDDLE) / (1 - upper))
        return middle, np.maximum(fold, _FLOOR_FOLD * floor)

    def _follow(
        self, which: _Crowd, mine: Cells, holes: NDArray[np.bool_] | None, floor: Cells,
        weight: Cells,
    ) -> Cells:  # fmt: skip
        """Bring what is usual up to date; `weight` is 1 where nothing was known before."""
        usual = self._all(which)
        now = mine if mine.shape[-1] == 1 else median_over_time(mine)[..., None]
        most = np.where(weight < 1, _LARGEST_GROWTH * np.maximum(usual, floor), np.inf)
        step = weight * (np.minimum(now, most) - usual)
        if holes is not None:
            step[:, holes.all(axis=1)] = 0.0
        usual += step
        return usual

    def _correct(self, nats: Cells, known: NDArray[np.bool_], slots: int, weight: float) -> None:
        """Shrink them where rows are beyond the marks more often than the tail has it."""
        seen = max(np.count_nonzero(known) / max(len(known), 1), 1.0)
        factor = np.ones((self.paces, nats.shape[1], 1))
        beyond = np.flatnonzero(nats > _MARKS[0])
        for which, mark in zip((_Crowd.BEYOND_FIRST, _Crowd.BEYOND_SECOND), _MARKS, strict=True):
            share = self._all(which)
            if slots > _FEW_SLOTS:
                beyond = beyond[nats.ravel()[beyond] > mark]
                lines = np.bincount(beyond // nats.shape[2], minlength=factor.size)
                # One row of all says nothing about the crowd.
                believed = lines.reshape(factor.shape) / seen - 1.0 / max(seen, 2.0)
                share += weight * (np.minimum(np.maximum(believed, 0.0), 0.5) - share)
            least = math.exp(-mark)
            factor = np.minimum(factor, -np.log(np.maximum(share, least)) / mark)
        if (factor < 1).any():
            np.minimum(nats, nats * factor, out=nats)


_ALL = ("all",)


def _inverse(fold: Cells, holes: NDArray[np.bool_] | None) -> Cells:
    """1 / fold, zero where nothing is known or there is no scale; in the same memory."""
    if holes is None and fold.all():
        return np.divide(1.0, fold, out=fold)
    has_scale = fold > 0
    if holes is not None:
        has_scale[:, holes] = False
    np.divide(1.0, fold, out=fold, where=has_scale)
    fold[~has_scale] = 0.0
    return fold


def _quantiles(
    size: Cells, holes: NDArray[np.bool_] | None, shares: tuple[float, float]
) -> list[Cells]:
    """Of the other rows for each row; of a sample of all rows, (pace, metric, 1), where many are.

    Zero where nothing is known.
    """
    rows = size.shape[-1]
    if rows <= _SMALL:
        lines = size if holes is None else np.where(holes, np.nan, size)
        found = leave_one_out_quantiles(lines, shares)
        is_known = holes is None and rows >= _FEWEST_ROWS
        return found if is_known else [np.nan_to_num(one) for one in found]
    some = sample(size)
    if holes is None:
        ordered, seen = np.sort(some, axis=2), some.shape[2]
        return [ordered[..., max(math.ceil(seen * share) - 1, 0), None] for share in shares]
    missing = sample(holes)
    ordered = np.sort(np.where(missing, np.inf, some), axis=2)
    count = np.count_nonzero(~missing, axis=1)[None, :, None]
    count = np.broadcast_to(count, (*ordered.shape[:2], 1))
    places = (np.ceil(count * share).astype(np.intp) - 1 for share in shares)
    return [np.where(count > 0, entry_at(ordered, place), 0.0) for place in places]
