"""What is looked up once about rows that come batch after batch under the same names.

A batch's tuples of nodes and indices stay the same objects as long as its sender's header stays
(see `paramedic.ingest.batch`), so plans are found by identity, without looking at any name.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.contract import Entity
from paramedic.ingest.windows.row_places import RowPlaces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName, Table
    from paramedic.ingest.windows.roster import Roster
    from paramedic.ingest.windows.slots import EntitySlots, RowName

_ROWS_KEPT = 500_000
"""Rows that plans are kept for; a job of 10,000 nodes with 8 GPUs and ranks each has 170,000."""

_Identity = tuple[tuple[Entity, int, int], ...]


class Crowd:
    """The live nodes of a batch, and what their clocks were like when they last spoke."""

    __slots__ = ("ids", "members", "nodes", "offsets", "residuals", "version", "where")

    def __init__(self, nodes: tuple[NodeName, ...]) -> None:
        self.nodes = nodes
        self.members = -1
        self.ids = np.zeros(0, np.intp)
        """Where the nodes' clocks are, as of that state of their membership."""
        self.where: NDArray[np.intp] | slice = self.ids
        """The same, as a slice where they are neighbours."""
        self.version = -1
        """The state of the clocks that the following is of."""
        self.offsets = Spread(0.0, 0.0)
        self.residuals = Spread(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Spread:
    """The least and the largest of some numbers."""

    least: float
    largest: float

    @classmethod
    def of(cls, numbers: NDArray[np.float64]) -> Spread:
        """The spread of these numbers, of which there is at least one."""
        return cls(float(numbers.min()), float(numbers.max()))

    def is_within(self, limit: float, middle: float = 0.0) -> bool:
        """Whether all of them are this close to the middle."""
        return middle - limit <= self.least and self.largest <= middle + limit


class TablePlan:
    """One table's rows: to which node of the crowd they belong, and where they are written."""

    def __init__(self, table: Table, places: dict[NodeName, int]) -> None:
        self.entity = table.entity
        self._nodes = table.nodes
        self._indices = table.indices
        nowhere = -1
        members = (places.get(node, nowhere) for node in table.nodes)
        self.members: NDArray[np.intp] = np.fromiter(members, np.intp, len(table.nodes))
        """The place in the crowd of each row's node; -1 for a node that has left."""
        self.present: NDArray[np.intp] = np.flatnonzero(self.members >= 0)
        """The rows whose node has not left."""
        self.current: NDArray[np.intp] = self.present
        """Rank tables: the rows whose generation is not over, as of `current_as_of`."""
        self.current_as_of: tuple[int, int] | None = None
        self._positions = np.zeros(0, np.intp)
        self._version = -1
        self._placed: tuple[NDArray[np.intp], RowPlaces] | None = None

    def __len__(self) -> int:
        return len(self._nodes)

    def rows(self, which: NDArray[np.intp]) -> list[RowName]:
        """The names of these rows."""
        indices = self._indices
        if indices is None:
            return [(self._nodes[at], None) for at in which.tolist()]
        return [(self._nodes[at], indices[at]) for at in which.tolist()]

    def places(self, which: NDArray[np.intp], slots: EntitySlots) -> RowPlaces:
        """Where these rows are in the slots; those that are not there yet are entered.

        For the same `which` object, which must not change, it is looked up once.
        """
        known = self._placed
        if known is not None and known[0] is which and self._version == slots.version:
            return known[1]
        places = RowPlaces(self._find(which, slots))
        self._placed = which, places
        return places

    def _find(self, which: NDArray[np.intp], slots: EntitySlots) -> NDArray[np.intp]:
        if self._version != slots.version:
            self._positions = np.full(len(self), -1, np.intp)
            self._version = slots.version
        found = self._positions[which]
        if found.size and found.min() < 0:
            new = which[found < 0]
            self._positions[new] = slots.enter(self.rows(new))
            found = self._positions[which]
        return found


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """What is known of the rows of a batch, as of a state of the roster."""

    tables: tuple[TablePlan, ...]
    crowd: Crowd
    departures: int
    names: tuple[tuple[NodeName, ...] | tuple[int, ...] | None, ...]
    """What the plan is found by; held, so that no other object can take over an identity."""

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(len(table) for table in self.tables)


class Plans:
    """The plans of the batches that came last."""

    def __init__(self, rows_kept: int = _ROWS_KEPT) -> None:
        self._rows_kept = rows_kept
        self._plans: OrderedDict[_Identity, BatchPlan] = OrderedDict()
        self.rows = 0
        """Rows that plans are kept for now."""

    def plan(self, tables: Sequence[Table], roster: Roster) -> BatchPlan:
        """The plan of these tables, made if there is none, or none of this roster."""
        key = tuple((table.entity, id(table.nodes), id(table.indices)) for table in tables)
        known = self._plans.get(key)
        if known is not None and known.departures == roster.departures:
            self._plans.move_to_end(key)
            return known
        plan = _plan(tables, roster)
        self.rows += plan.rows - (known.rows if known is not None else 0)
        self._plans[key] = plan
        while self.rows > self._rows_kept and len(self._plans) > 1:
            _, oldest = self._plans.popitem(last=False)
            self.rows -= oldest.rows
        return plan


def _plan(tables: Sequence[Table], roster: Roster) -> BatchPlan:
    names = dict.fromkeys(node for table in tables for node in table.nodes)
    crowd = Crowd(tuple(roster.live(names)))
    places = {node: at for at, node in enumerate(crowd.nodes)}
    return BatchPlan(
        tables=tuple(TablePlan(table, places) for table in tables),
        crowd=crowd,
        departures=roster.departures,
        names=tuple(part for table in tables for part in (table.nodes, table.indices)),
    )
