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
from paramedic.models.departure.yardstick import Yardstick
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
_FEW_NODES_ROWS = 512
"""Of so many rows all that a node has are a good part."""
_SMALL = 48
"""Of so few rows each is left out of its own yardstick."""
_TWO, _FEW_ROWS = 2, 3
"""With one of so few rows that departs, the others depart from it by as much."""
_LEAST_UPPER = 0.65
_FOLD_OF_MIDDLE = 1 / math.log(2)
"""With too few rows for an upper quantile the tail is as wide as an exponential one with such a
middle."""
_FLOOR_FOLD = 0.6
_WHOLE = 0.5
"""A node departs as a whole when half of its rows are so far out, of the farthest of them."""
_LARGEST_WIDENING = 5.0
"""A slot in turmoil counts as so many times the usual scatter at most."""
_LARGEST_GROWTH = 2.0
"""What one slot can teach, against what is usual."""
_LARGEST_JUMPS = (12.0, 4.0)
"""One slot moves an average by at most so many upper quantiles: of the quickest pace, of others."""
_FEW_SLOTS = 30
_STEADY_PACE, _SHRUNK = 1, 0.9
_MARKS = (4.0, 8.0)
"""In nats: there the tail is checked against what is seen."""
_MARK_COLUMN = np.array(_MARKS)[:, None]
_LEAST_SHARES = np.exp(-_MARK_COLUMN)


class _Crowd(IntEnum):
    """Of every pace, for all rows together."""

    MIDDLE = 0
    UPPER = 1
    BEYOND_FIRST = 2
    BEYOND_SECOND = 3


class Odd(NamedTuple):
    """Where a slot is odd."""

    cells: NDArray[np.intp]
    """Flat positions in (pace, metric, row) …"""
    nats: Cells
    """… and how odd it is there."""
    yardstick: Yardstick


@dataclass(slots=True)
class Scatter:
    """Averages and their scatter at all paces, for the rows of one kind."""

    paces: int
    least_nats: float = 0.0
    """What is less odd than this is not told."""
    _smooth: CellMemory = field(init=False)
    _own: CellMemory = field(init=False)
    _crowd: CellMemory = field(init=False)
    _rows: tuple[EntityKey, ...] = ()
    _nodes: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    """Which node each row is of, as a number."""
    _of_a_node: int = 1
    """So many rows a node has at most."""
    _is_of_two_nodes: bool = False

    def __post_init__(self) -> None:
        self._smooth, self._own = CellMemory(self.paces), CellMemory(self.paces)
        self._crowd = CellMemory(len(_Crowd) * self.paces)

    def arrange(self, rows: tuple[EntityKey, ...], metrics: tuple[str, ...]) -> None:
        """Be about these rows and metrics from now on."""
        if rows is not self._rows:
            number = {node: at for at, node in enumerate(dict.fromkeys(row.node for row in rows))}
            self._nodes = np.array([number[row.node] for row in rows], np.intp)
            self._rows = rows
            self._of_a_node = int(np.bincount(self._nodes, minlength=1).max())
            self._is_of_two_nodes = len(number) == _TWO and len(rows) > _FEW_ROWS
        self._smooth.arrange(rows, metrics)
        self._own.arrange(rows, metrics)
        self._crowd.arrange(_ALL, metrics)

    def restart(self) -> None:
        """Nothing of before speaks of now; how much rows scatter is still known."""
        self._smooth.cells = np.zeros_like(self._smooth.cells)

    def weigh(
        self, rest: Rest, known: NDArray[np.bool_], floor: Cells, smoothing: Cells,
        slots: int, memory_slots: float, harmless: Cells | None = None,
    ) -> Odd:  # fmt: skip
        """Add a slot; `floor` (metric, 1) and `smoothing` (pace, 1, 1) in slots.

        `harmless`: the sign of departures that are nobody's fault, (metric, 1).
        """
        holes = None if np.count_nonzero(known) == known.size else ~known
        step = self._limited(rest, floor, smoothing, slots) - self._smooth.cells
        if holes is not None:
            np.copyto(step, 0.0, where=holes)
        step /= smoothing
        # What was measured by the array of before goes on to be.
        smooth = self._smooth.cells = np.add(self._smooth.cells, step)
        size = np.abs(smooth, out=step)
        weight = 1.0 / min(slots + 1, memory_slots)
        measured = size
        if harmless is not None and self._is_of_two_nodes:
            measured = self._without_the_other(size, harmless * smooth)
        middle, fold = self._yardstick(smooth, measured, holes, floor, weight)
        yardstick = Yardstick(smooth, rest, middle, fold, self._own.cells, holes)
        cells, nats = self._oddness(size, yardstick)
        seen = max(np.count_nonzero(known) / max(len(known), 1), 1.0)
        self._correct(cells, nats, seen, slots, 1.0 / memory_slots)
        return Odd(cells, nats, yardstick)

    def _oddness(self, size: Cells, yardstick: Yardstick) -> tuple[NDArray[np.intp], Cells]:
        """Where it is odd enough to be told, and how much so."""
        beyond, rest, holes = size, yardstick.rest, yardstick.holes
        if not rest.is_settled:
            beyond = size - rest.doubt
            np.maximum(beyond, 0.0, out=beyond)
        least = min(self.least_nats, _MARKS[0]) - math.log(2)
        if least > 0:
            # A row's own scatter only makes it less odd.
            cells = np.flatnonzero(beyond > yardstick.middle + least * yardstick.fold)
        else:
            cells = np.arange(beyond.size)
        if holes is not None:
            cells = cells[~holes.ravel()[cells % holes.size]]
        if not cells.size:
            return cells, np.zeros(0)
        return cells, yardstick.nats(beyond, cells)

    def shrinks(self, rest: Cells, cells: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Where the rest is less than it lately was; cells are flat positions in it."""
        lately = self._smooth.cells[min(_STEADY_PACE, self.paces - 1)].ravel()[cells]
        shrinking: NDArray[np.bool_] = np.abs(rest.ravel()[cells]) < _SHRUNK * np.abs(lately)
        return shrinking

    def learn(
        self, rest: Rest, weight: Cells, early: NDArray[np.bool_] | None, floor: Cells
    ) -> None:
        """Follow how much calm rows scatter by themselves; a fault adds little to it.

        `early`: cells of which little is known; None where there are none.
        """
        own, size = self._own.cells, np.abs(self._smooth.cells)
        usual = np.maximum(own, np.maximum(self._all(_Crowd.MIDDLE), _FLOOR_FOLD * floor))
        usual *= _LARGEST_GROWTH
        step = np.minimum(size, usual, out=usual)
        if early is not None:
            # What is not yet taken off is no scatter.
            np.copyto(step, np.abs(self._smooth.cells - rest.untaken), where=early)
        step -= own
        step *= weight
        step += own
        self._own.cells = step

    def noise(self, floor: Cells) -> Cells:
        """By how much a healthy row's slot may depart, at the quickest pace."""
        crowd = np.maximum(self._all(_Crowd.UPPER)[0], floor)
        widest: Cells = np.maximum(crowd, self._own.cells[0])
        return 3.0 * widest

    def _all(self, which: _Crowd) -> Cells:
        cells: Cells = self._crowd.cells[which * self.paces : (which + 1) * self.paces]
        return cells

    def _limited(self, rest: Rest, floor: Cells, smoothing: Cells, slots: int) -> Cells:
        if slots < _FEW_SLOTS:
            return rest.rest[None]
        quick, slow = _LARGEST_JUMPS
        jumps = np.where(smoothing < 2, quick, slow) * smoothing
        limit = jumps * np.maximum(self._all(_Crowd.UPPER), floor)
        if not rest.is_settled:
            limit = limit + rest.doubt
        kept = np.maximum(rest.rest, -limit)
        return np.minimum(kept, limit, out=kept)

    def _yardstick(
        self, smooth: Cells, size: Cells, holes: NDArray[np.bool_] | None, floor: Cells,
        weight: float,
    ) -> tuple[Cells, Cells]:  # fmt: skip
        """Middle and fold of the tail that each row is measured by."""
        rows = size.shape[-1]
        # All rows of a node may depart together, and are not to be what they are measured by.
        upper = min(_UPPER, (rows - self._of_a_node - 1.5) / max(rows - 1, 1))
        if rows <= _FEW_ROWS:
            mine, now = np.stack((size, size)), _spread_of_others(smooth, holes)
        else:
            mine = now = _quantiles(size, holes, (_MIDDLE, max(upper, _MIDDLE)))
        usual = self._follow(mine, holes, floor, weight)
        widest = _LARGEST_WIDENING * np.maximum(usual, floor)
        middle, top = np.maximum(usual, np.minimum(now, widest))
        if upper < _LEAST_UPPER:
            fold = _FOLD_OF_MIDDLE * middle
        else:
            fold = (top - middle) / math.log((1 - _MIDDLE) / (1 - upper))
        return middle, np.maximum(fold, _FLOOR_FOLD * floor)

    def _without_the_other(self, size: Cells, harmless: Cells) -> Cells:
        """The sizes of two nodes' rows, without those that only seem to depart.

        Beside a node all of whose cards are hot, or have clocks that are down, the other's seem
        cool, or up: they are no yardstick. `harmless` is above zero there.
        """
        nodes = [harmless[..., self._nodes == node] for node in (0, 1)]
        is_whole = np.zeros(size.shape[:2], np.bool_)
        for some in nodes:
            middle = -median_over_time(some)
            is_whole |= (middle > 0) & (middle >= _WHOLE * -some.min(axis=-1))
        return np.where(is_whole[..., None] & (harmless > 0), 0.0, size)

    def _follow(
        self, mine: Cells, holes: NDArray[np.bool_] | None, floor: Cells, weight: float
    ) -> Cells:
        """Bring what is usual up to date, the middle and the upper; what is new has no past."""
        usual = self._both(_Crowd.MIDDLE)
        now = mine if mine.shape[-1] == 1 else median_over_time(mine)[..., None]
        is_fresh = usual[0] + usual[1] == 0
        most = _LARGEST_GROWTH * np.maximum(usual, floor)
        step = weight * (np.minimum(now, most) - usual)
        if weight == 1 or is_fresh.any():
            np.copyto(step, now - usual, where=is_fresh | (weight == 1))
        if holes is not None:
            step[:, :, holes.all(axis=1)] = 0.0
        usual += step
        return usual

    def _correct(
        self, cells: NDArray[np.intp], nats: Cells, seen: float, slots: int, weight: float
    ) -> None:
        """Shrink them where rows are beyond the marks more often than the tail has it.

        `seen`: how many rows are known of a metric, in the mean.
        """
        share, rows = self._crowd.cells[_Crowd.BEYOND_FIRST * self.paces :], len(self._rows)
        share = share.reshape(len(_MARKS), -1)
        if slots > _FEW_SLOTS and rows > _FEW_ROWS:
            share *= 1 - weight
            if cells.size:
                # One row of all says nothing about the crowd, nor does one node of a few.
                believed = self._beyond(cells, nats, share.shape) / seen - 1.0 / max(seen, 2.0)
                np.minimum(np.maximum(believed, 0.0, out=believed), 0.5, out=believed)
                believed *= weight
                share += believed
        share = share.take(cells // rows, axis=1)
        if np.count_nonzero(share > _LEAST_SHARES):
            factors = -np.log(np.maximum(share, _LEAST_SHARES)) / _MARK_COLUMN
            # What is no oddness stays as it is.
            np.multiply(nats, np.minimum(*factors), out=nats, where=nats > 0)

    def _beyond(
        self, cells: NDArray[np.intp], nats: Cells, shape: tuple[int, ...]
    ) -> NDArray[np.intp]:
        """How many cells are beyond each mark, by line; of a node that has more than all others,
        one."""
        found = np.zeros(shape, np.intp)
        for at, mark in enumerate(_MARKS):
            beyond = cells[nats > mark]
            if beyond.size:
                found[at] = self._by_line(beyond, shape[1])
        return found

    def _by_line(self, cells: NDArray[np.intp], lines: int) -> NDArray[np.intp]:
        """How many of the cells each line has, where the node with most of them counts once."""
        rows = len(self._rows)
        if rows > _FEW_NODES_ROWS:
            return np.bincount(cells // rows, minlength=lines)
        width = int(self._nodes[-1]) + 1
        of_node = cells // rows * width + self._nodes[cells % rows]
        counts = np.bincount(of_node, minlength=lines * width).reshape(lines, width)
        most = counts.max(axis=1)
        found: NDArray[np.intp] = counts.sum(axis=1) - most + np.minimum(most, 1)
        return found

    def _both(self, first: _Crowd) -> Cells:
        """This and the next, (which, pace, metric, 1)."""
        cells = self._crowd.cells[first * self.paces : (first + 2) * self.paces]
        return cells.reshape(2, self.paces, *cells.shape[1:])


_ALL = ("all",)


def _spread_of_others(smooth: Cells, holes: NDArray[np.bool_] | None) -> Cells:
    """How far the two others of each of three rows are from each other; of two, there is one other.

    A row departs from the middle of two others, so these differ by 3/2 of what they are apart.
    """
    if smooth.shape[-1] < _FEW_ROWS:
        return np.zeros_like(smooth)
    apart = np.abs(np.roll(smooth, 1, axis=-1) - np.roll(smooth, 2, axis=-1)) / 1.5
    if holes is not None:
        apart[:, holes.any(axis=1)] = 0.0
    return apart


def _quantiles(size: Cells, holes: NDArray[np.bool_] | None, shares: tuple[float, float]) -> Cells:
    """Of the other rows for each row; of a sample of all rows, one for all, where many are.

    (share, pace, metric, row); zero where nothing is known.
    """
    rows = size.shape[-1]
    if rows <= _SMALL:
        lines = size if holes is None else np.where(holes, np.nan, size)
        found = np.array(leave_one_out_quantiles(lines, shares))
        return found if holes is None else np.nan_to_num(found)
    some = sample(size)
    if holes is None:
        ordered, seen = np.sort(some, axis=2), some.shape[2]
        places = [max(math.ceil(seen * share) - 1, 0) for share in shares]
        return np.array([ordered[..., place, None] for place in places])
    missing = sample(holes)
    ordered = np.sort(np.where(missing, np.inf, some), axis=2)
    count = np.count_nonzero(~missing, axis=1)[None, :, None]
    count = np.broadcast_to(count, (*ordered.shape[:2], 1))
    positions = (np.ceil(count * share).astype(np.intp) - 1 for share in shares)
    return np.stack([np.where(count > 0, entry_at(ordered, at), 0.0) for at in positions])
