"""Puts rows together as `collect` does: what a second's rows say goes into one batch.

Rows of a second and generation that arrive within the settling time of the first of them are one
batch, which has arrived with the last of them; later ones are a further batch of the same second.
Which rows are read together makes no difference to what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paramedic.ingest.batch.block_columns import BlockColumns
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch
from paramedic.ingest.recordings.moment import MICROSECONDS, Moment
from paramedic.ingest.recordings.row_group import Whole
from paramedic.ingest.recordings.rows import Rows, together

SETTLE_SECONDS = 1.0
_SETTLE = round(SETTLE_SECONDS * MICROSECONDS)
_LAYOUTS_KEPT = 256

_Layout = tuple[tuple[NodeName, ...], tuple[int, ...] | None]


class Assembler:
    """Holds the rows that are not in a batch yet."""

    def __init__(
        self, job: JobName, nodes: Sequence[NodeName], metrics: Mapping[Entity, tuple[str, ...]]
    ) -> None:
        self._job = job
        self._nodes = nodes
        self._metrics = metrics
        self._places = {
            entity: {metric: at for at, metric in enumerate(names)}
            for entity, names in metrics.items()
        }
        self._held: dict[Entity, Rows] = {}
        self._layouts: dict[tuple[Entity, bytes, bytes], _Layout] = {}
        self.repeated = 0
        """Rows that said again what another row of their batch had said; the last one holds."""

    @property
    def held(self) -> int:
        """How many rows wait."""
        return sum(map(len, self._held.values()))

    def add(self, entity: Entity, rows: Rows) -> None:
        """Take rows in, in any order."""
        held = self._held.get(entity)
        self._held[entity] = rows if held is None else together([held, rows])

    def complete(self, frontier: int | None) -> Iterator[Moment]:
        """The batches that are complete when all that arrived before the frontier has been added.

        None: nothing more will be added.
        """
        if not self.held:
            return
        entities = [entity for entity in Entity if entity in self._held]
        groups = _Groups([self._held[entity] for entity in entities])
        ready = groups.ready(frontier)
        turns = np.full(groups.seconds.size, -1)
        turns[ready] = np.arange(ready.size)
        ends = np.cumsum([len(self._held[entity]) for entity in entities])
        turns_of_rows = np.split(turns[groups.of_row], ends[:-1])
        sorted_rows = {
            entity: self._sort(entity, of_rows, ready.size)
            for entity, of_rows in zip(entities, turns_of_rows, strict=True)
        }
        for turn, group in enumerate(ready.tolist()):
            yield self._batch(groups, group, turn, sorted_rows)

    def _sort(self, entity: Entity, turns: NDArray[np.intp], groups: int) -> _Sorted:
        """The rows whose groups have a turn, group after group.

        All other rows go on being held.
        """
        rows = self._held[entity]
        self._held[entity] = rows.taken(np.flatnonzero(turns < 0))
        order, has_repeats = _order(rows, turns)
        rows, turns = rows.taken(order), turns[order]
        if has_repeats:
            rows, turns = self._without_repeats(rows, turns)
        return _Sorted.of(rows, turns, groups)

    def _without_repeats(
        self, rows: Rows, turns: NDArray[np.intp]
    ) -> tuple[Rows, NDArray[np.intp]]:
        """Of rows that speak of the same, the last one; what only an earlier one says stays."""
        same = (np.diff(turns) == 0) & (np.diff(rows.nodes) == 0) & (np.diff(rows.indices) == 0)
        for at in np.flatnonzero(same).tolist():
            before, after = rows.values[:, at], rows.values[:, at + 1]
            self.repeated += bool((~np.isnan(before) & ~np.isnan(after)).any())
            rows.values[:, at + 1] = np.where(np.isnan(after), before, after)
        last = np.flatnonzero(np.append(~same, True))
        return rows.taken(last), turns[last]

    def _batch(
        self,
        groups: _Groups,
        group: int,
        turn: int,
        sorted_rows: Mapping[Entity, _Sorted],
    ) -> Moment:
        tables = (
            self._table(entity, rows, turn)
            for entity, rows in sorted_rows.items()
            if rows.begins[turn] < rows.begins[turn + 1]
        )
        batch = TelemetryBatch(
            self._job,
            int(groups.generations[group]),
            int(groups.seconds[group]),
            tuple(tables),
        )
        return Moment(int(groups.arrivals[group]), batch)

    def _table(self, entity: Entity, told: _Sorted, turn: int) -> Table:
        rows, part = told.rows, slice(told.begins[turn], told.begins[turn + 1])
        values, observed = rows.values[:, part], told.observed[:, turn]
        nodes, indices = self._layout(entity, rows.nodes[part], rows.indices[part])
        places = self._places[entity]
        if np.count_nonzero(observed) < len(places):
            there, names = np.flatnonzero(observed), self._metrics[entity]
            places = {names[at]: place for place, at in enumerate(there.tolist())}
            values = values[there]
        return Table(entity, nodes, indices, BlockColumns(places, values))

    def _layout(self, entity: Entity, nodes: Whole, indices: Whole) -> _Layout:
        """The names of the rows: the same objects for the same rows, by which plans are found."""
        key = (entity, nodes.tobytes(), indices.tobytes())
        known = self._layouts.get(key)
        if known is None:
            if len(self._layouts) >= _LAYOUTS_KEPT:
                del self._layouts[next(iter(self._layouts))]
            names = tuple(self._nodes[at] for at in nodes.tolist())
            known = (names, None if entity is Entity.NODE else tuple(indices.tolist()))
            self._layouts[key] = known
        return known


class _Sorted(NamedTuple):
    """Rows of an entity, group after group."""

    rows: Rows
    begins: NDArray[np.intp]
    """Where each group begins, and the last ends."""
    observed: NDArray[np.bool_]
    """(metric, group): whether anything is told of the metric."""

    @classmethod
    def of(cls, rows: Rows, turns: NDArray[np.intp], groups: int) -> _Sorted:
        begins = np.searchsorted(turns, np.arange(groups + 1))
        observed = np.zeros((len(rows.values), groups), np.bool_)
        some = np.flatnonzero(np.diff(begins))
        if some.size:
            observed[:, some] = np.logical_or.reduceat(~np.isnan(rows.values), begins[some], axis=1)
        return cls(rows, begins, observed)


def _order(rows: Rows, turns: NDArray[np.intp]) -> tuple[NDArray[np.intp], bool]:
    """The rows that have a turn, by turn and machine, what came last of each at last; and whether
    anything is told of a machine more than once in a turn."""
    nodes, indices = (int(one.max(initial=0)) + 1 for one in (rows.nodes, rows.indices))
    keys = (turns * nodes + rows.nodes) * indices + rows.indices
    order = np.argsort(keys, kind="stable")
    order = order[np.searchsorted(turns[order], 0) :]
    if not (np.diff(keys[order]) == 0).any():
        return order, False
    order = np.lexsort((rows.positions, rows.arrivals, rows.indices, rows.nodes, turns))
    return order[np.searchsorted(turns[order], 0) :], True


class _Groups:
    """Rows of all entities, divided into batches."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        seconds = np.concatenate([part.seconds for part in parts])
        generations = np.concatenate([part.generations for part in parts])
        arrivals = np.concatenate([part.arrivals for part in parts])
        # By second, generation and arrival; mostly rows come so, and then this is quicker than
        # np.lexsort.
        order = np.argsort(arrivals, kind="stable")
        for one in (generations, seconds):
            order = order[np.argsort(one[order], kind="stable")]
        seconds, generations, arrivals = seconds[order], generations[order], arrivals[order]
        begins = _begins(seconds, generations, arrivals)
        self.seconds: Whole = seconds[begins]
        self.generations: Whole = generations[begins]
        ends = np.append(begins[1:], len(seconds))
        self.arrivals: Whole = arrivals[ends - 1]
        """When the last row of each group arrived."""
        self.of_row: NDArray[np.intp] = np.empty(len(seconds), np.intp)
        """The group of each row."""
        self.of_row[order] = np.repeat(np.arange(begins.size), ends - begins)

    def ready(self, frontier: int | None) -> NDArray[np.intp]:
        """The groups that nothing can be added to, in the order of their arrival."""
        order = np.lexsort((self.generations, self.seconds, self.arrivals))
        if frontier is None:
            return order
        return order[self.arrivals[order] < frontier - _SETTLE]


def _begins(seconds: Whole, generations: Whole, arrivals: Whole) -> NDArray[np.intp]:
    """Where each group begins, in rows that are sorted by second, generation and arrival."""
    changes = (np.diff(seconds) != 0) | (np.diff(generations) != 0)
    begins = np.concatenate([[0], np.flatnonzero(changes) + 1])
    ends = np.append(begins[1:], len(seconds))
    too_long = arrivals[ends - 1] - arrivals[begins] > _SETTLE
    if not too_long.any():
        return begins
    more = [
        cut
        for begin, end in zip(begins[too_long].tolist(), ends[too_long].tolist(), strict=True)
        for cut in _cuts(arrivals, begin, end)
    ]
    return np.sort(np.concatenate([begins, np.array(more, begins.dtype)]))


def _cuts(arrivals: Whole, begin: int, end: int) -> Iterator[int]:
    """Where rows of one second begin a further batch."""
    while True:
        last = arrivals[begin] + _SETTLE
        begin += int(np.searchsorted(arrivals[begin:end], last, side="right"))
        if begin >= end:
            return
        yield begin
