"""From lanes to tables: several lanes become one cell, and some cells are computed from others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paramedic.ingest.catalogue.catalogue import Catalogue
from paramedic.ingest.catalogue.metric import Metric, Over
from paramedic.ingest.cleaning.lanes import Lane
from paramedic.ingest.cleaning.rows import Row
from paramedic.ingest.cleaning.units import Booleans, Floats, Indices
from paramedic.ingest.contract import Entity, Table

_RATIO = "ratio"


@dataclass(frozen=True, slots=True)
class Join:
    """Lanes that become cells in one way."""

    over: Over
    lanes: Indices
    cells: Indices


@dataclass(frozen=True, slots=True)
class Quotient:
    """Pairs of lanes that become the cells of one computed metric."""

    over: Over
    of: Indices
    by: Indices
    cells: Indices
    is_complement: bool


@dataclass(frozen=True, slots=True)
class Block:
    """One table of a page: its rows, its columns and where its cells begin."""

    entity: Entity
    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    start: int

    @property
    def end(self) -> int:
        """Where the next table's cells begin."""
        return self.start + len(self.rows) * len(self.columns)


@dataclass(frozen=True, slots=True)
class CellPlan:
    """How a page's lanes become its tables."""

    blocks: tuple[Block, ...]
    joins: tuple[Join, ...]
    quotients: tuple[Quotient, ...]
    complements: Indices
    ratios: Indices
    """Cells whose unit is a ratio."""
    low: Floats
    high: Floats
    """Limits of each cell's value."""


def cell_plan(lanes: Sequence[Lane], catalogue: Catalogue) -> CellPlan:
    """Plan the tables of a page with these lanes."""
    planner = _Planner(lanes, catalogue)
    blocks = planner.blocks()
    columns = [column for block in blocks for column in block.columns for _ in block.rows]
    metrics = [catalogue.metrics.get(column) for column in columns]
    return CellPlan(
        blocks=blocks,
        joins=planner.joins(),
        quotients=planner.quotients(),
        complements=_where(metrics, lambda metric: metric.is_complement and not metric.ratio),
        ratios=_where(metrics, lambda metric: metric.unit == _RATIO),
        low=np.array([-np.inf if metric is None else metric.low for metric in metrics]),
        high=np.array([np.inf if metric is None else metric.high for metric in metrics]),
    )


def fill_cells(plan: CellPlan, lanes: Floats, unready: Booleans) -> Floats:
    """Values of all cells, NaN where nothing was observed.

    `unready` lanes were read and have no rate yet: a sum without them would be too small.
    """
    cells = np.full(len(plan.low), np.nan)
    for join in plan.joins:
        _JOINS[join.over](cells, join, lanes[join.lanes], unready[join.lanes])
    cells[plan.complements] = 1.0 - cells[plan.complements]
    for quotient in plan.quotients:
        _divide(cells, quotient, lanes)
    cells[plan.ratios] = np.clip(cells[plan.ratios], 0.0, 1.0)
    return cells


def reject_impossible(plan: CellPlan, cells: Floats, rejected: Counter[tuple[str, str]]) -> None:
    """Empty cells whose value no such machine can have: sums and quotients."""
    with np.errstate(invalid="ignore"):
        impossible = (cells < plan.low) | (cells > plan.high)
    if not impossible.any():
        return
    for at in np.flatnonzero(impossible):
        block = next(block for block in plan.blocks if at < block.end)
        rejected["out_of_range", block.columns[(at - block.start) // len(block.rows)]] += 1
    cells[impossible] = np.nan


def tables_of(plan: CellPlan, cells: Floats) -> tuple[Table, ...]:
    """The tables; columns and rows in which nothing was observed are left out."""
    tables: list[Table] = []
    for block in plan.blocks:
        matrix = cells[block.start : block.end].reshape(len(block.columns), len(block.rows))
        seen = ~np.isnan(matrix)
        if seen.any():
            tables.append(_table(block, matrix, seen))
    return tuple(tables)


def _table(block: Block, matrix: Floats, seen: Booleans) -> Table:
    rows = block.rows
    has_values: Booleans = np.asarray(seen.any(axis=0))
    if not has_values.all():
        matrix = matrix[:, has_values]
        rows = tuple(row for row, has in zip(rows, has_values, strict=True) if has)
    is_column = [bool(row.any()) for row in seen]
    columns = zip(block.columns, is_column, matrix.tolist(), strict=True)
    is_node = block.entity is Entity.NODE
    return Table(
        entity=block.entity,
        nodes=tuple(node for node, _ in rows),
        indices=None if is_node else tuple(index or 0 for _, index in rows),
        columns={column: tuple(values) for column, has, values in columns if has},
    )


class _Planner:
    """Numbers the cells of a page and finds what leads to them."""

    def __init__(self, lanes: Sequence[Lane], catalogue: Catalogue) -> None:
        self._lanes = lanes
        self._catalogue = catalogue
        self._cells: dict[tuple[Row, str], int] = {}
        self._by_metric: dict[str, dict[tuple[Row, tuple[str, ...]], int]] = defaultdict(dict)
        for number, lane in enumerate(lanes):
            self._by_metric[lane.metric].setdefault((lane.row, lane.key[3]), number)

    def blocks(self) -> tuple[Block, ...]:
        """Node rows, then GPU rows; cells are numbered column by column."""
        wanted = [(lane.row, lane.metric) for lane in self._lanes if self._is_handed_on(lane)]
        wanted += [(row, metric.id) for metric, row, _, _ in self._pairs()]
        blocks: list[Block] = []
        start = 0
        for entity in (Entity.NODE, Entity.GPU):
            of_entity = [one for one in wanted if (one[0][1] is None) == (entity is Entity.NODE)]
            rows = tuple(sorted({row for row, _ in of_entity}))
            columns = tuple(sorted({metric for _, metric in of_entity}))
            blocks.append(Block(entity, rows, columns, start))
            for column in columns:
                for row in rows:
                    self._cells[row, column] = len(self._cells)
            start = blocks[-1].end
        return tuple(blocks)

    def joins(self) -> tuple[Join, ...]:
        """One join for each way in which lanes come together."""
        found: dict[Over, tuple[list[int], list[int]]] = {over: ([], []) for over in Over}
        for number, lane in enumerate(self._lanes):
            if self._is_handed_on(lane):
                found[lane.over][0].append(number)
                found[lane.over][1].append(self._cells[lane.row, lane.metric])
        return tuple(
            Join(over, np.array(lanes, np.intp), np.array(cells, np.intp))
            for over, (lanes, cells) in found.items()
            if lanes
        )

    def quotients(self) -> tuple[Quotient, ...]:
        """The computed metrics of this page."""
        pairs: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for metric, row, of, by in self._pairs():
            pairs[metric.id].append((of, by, self._cells[row, metric.id]))
        quotients: list[Quotient] = []
        for name, found in pairs.items():
            metric = self._catalogue.metrics[name]
            assert metric.ratio is not None
            of, by, cells = np.array(found, np.intp).T
            quotients.append(Quotient(metric.ratio.over, of, by, cells, metric.is_complement))
        return tuple(quotients)

    def _pairs(self) -> list[tuple[Metric, Row, int, int]]:
        """Computed metric, row, and the two lanes of one detail that it needs."""
        return [
            (metric, row, of, self._by_metric[metric.ratio.by][row, detail])
            for metric in self._catalogue.metrics.values()
            if metric.ratio is not None
            for (row, detail), of in self._by_metric.get(metric.ratio.of, {}).items()
            if (row, detail) in self._by_metric.get(metric.ratio.by, {})
        ]

    @staticmethod
    def _is_handed_on(lane: Lane) -> bool:
        return lane.exported is None or not lane.exported.metric.is_input


def _where(metrics: Sequence[Metric | None], holds: Callable[[Metric], bool]) -> Indices:
    return np.array(
        [at for at, metric in enumerate(metrics) if metric is not None and holds(metric)], np.intp
    )


def _first(cells: Floats, join: Join, values: Floats, unready: Booleans) -> None:
    # Of several lanes at most one is admitted, the others are NaN.
    del unready
    seen = ~np.isnan(values)
    cells[join.cells[seen]] = values[seen]


def _sum(cells: Floats, join: Join, values: Floats, unready: Booleans) -> None:
    seen = ~np.isnan(values)
    at = join.cells[seen]
    size = len(cells)
    sums = np.bincount(at, values[seen], size)
    known = np.bincount(at, minlength=size) > 0
    known &= np.bincount(join.cells[unready], minlength=size) == 0
    cells[known] = sums[known]


def _mean(cells: Floats, join: Join, values: Floats, unready: Booleans) -> None:
    del unready
    seen = ~np.isnan(values)
    at = join.cells[seen]
    counts = np.bincount(at, minlength=len(cells))
    known = counts > 0
    cells[known] = np.bincount(at, values[seen], len(cells))[known] / counts[known]


def _max(cells: Floats, join: Join, values: Floats, unready: Booleans) -> None:
    del unready
    seen = ~np.isnan(values)
    np.fmax.at(cells, join.cells[seen], values[seen])


_JOINS: Mapping[Over, Callable[[Floats, Join, Floats, Booleans], None]] = {
    Over.FIRST: _first,
    Over.SUM: _sum,
    Over.MEAN: _mean,
    Over.MAX: _max,
}


def _divide(cells: Floats, quotient: Quotient, lanes: Floats) -> None:
    of, by = lanes[quotient.of], lanes[quotient.by]
    seen = ~(np.isnan(of) | np.isnan(by))
    at, of, by = quotient.cells[seen], of[seen], by[seen]
    size = len(cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        if quotient.over is Over.SUM:
            ratios = np.bincount(at, of, size) / np.bincount(at, by, size)
            at, ratios = np.flatnonzero(np.isfinite(ratios)), ratios[np.isfinite(ratios)]
        else:
            ratios = of / by
            at, ratios = at[np.isfinite(ratios)], ratios[np.isfinite(ratios)]
    np.fmax.at(cells, at, 1.0 - ratios if quotient.is_complement else ratios)
