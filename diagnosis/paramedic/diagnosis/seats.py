"""Which node every rank of a job is on, by what the newest generation says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName, Table

    Turn = tuple[NDArray[np.intp], NDArray[np.intp]]

_PLANS_KEPT = 256


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a rank is."""

    node: NodeName
    generation: int


@dataclass(frozen=True, slots=True)
class SeatPlan:
    """What is known of the rows that come under the same names."""

    nodes: tuple[NodeName, ...]
    indices: tuple[int, ...] | None
    generation: int
    departed: frozenset[NodeName]
    turns: tuple[Turn, ...]
    """Rows that count, and the places of their ranks; a rank that is told of again comes in a
    later turn."""

    def is_of(self, table: Table, generation: int, departed: Collection[NodeName]) -> bool:
        """Whether these rows are those; the names stay the same objects from batch to batch."""
        return (
            self.nodes is table.nodes
            and self.indices is table.indices
            and self.generation == generation
            and self.departed == departed
        )


@dataclass(slots=True)
class Seats:
    """The seats in the order in which the ranks came."""

    ranks: tuple[int, ...] = ()
    places: dict[int, int] = field(default_factory=dict)
    """Where each rank stands among them."""
    nodes: frozenset[NodeName] = frozenset()
    """Where there are ranks."""
    _seats: dict[int, Seat] = field(default_factory=dict)
    _newcomers: list[int] = field(default_factory=list)
    _renewed: list[int] = field(default_factory=list)
    _plans: dict[tuple[int, int], SeatPlan] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ranks)

    def at(self, place: int) -> tuple[int, Seat]:
        """The rank at a place, and its seat."""
        rank = self.ranks[place]
        return rank, self._seats[rank]

    def take_newcomers(self) -> list[int]:
        """Who sits where nobody knew it before, since this was last asked."""
        found, self._newcomers = self._newcomers, []
        return found

    def take_renewed(self) -> list[int]:
        """Whose generation is a newer one, since this was last asked."""
        found, self._renewed = self._renewed, []
        return found

    def forget(self, node: NodeName) -> None:
        """Nobody is there any more."""
        self._seats = {rank: seat for rank, seat in self._seats.items() if seat.node != node}
        self._settle()

    def plan(self, table: Table, generation: int, departed: Collection[NodeName]) -> SeatPlan:
        """Find the places of a table's ranks, giving new ones one."""
        key = id(table.nodes), id(table.indices)
        known = self._plans.get(key)
        if known is not None and known.is_of(table, generation, departed):
            return known
        ranks = table.indices or ()
        told = [
            (row, rank)
            for row, (node, rank) in enumerate(zip(table.nodes, ranks, strict=True))
            if node not in departed and self._sits(rank, node, generation)
        ]
        self._settle()
        turns = _turns([(row, self.places[rank]) for row, rank in told])
        if len(self._plans) >= _PLANS_KEPT:
            self._plans.clear()
        plan = SeatPlan(table.nodes, table.indices, generation, frozenset(departed), turns)
        self._plans[key] = plan
        return plan

    def _sits(self, rank: int, node: NodeName, generation: int) -> bool:
        """Whether the rank is there; a newer generation may have put it elsewhere."""
        known = self._seats.get(rank)
        if known is not None and known.node == node:
            if generation > known.generation:
                self._seats[rank] = Seat(node, generation)
                self._renewed.append(rank)
            return True
        if known is not None and known.generation >= generation:
            return False
        # The node carries other ranks than before: nobody beats for those it has given up.
        given_up = [
            r for r, s in self._seats.items() if s.node == node and s.generation < generation
        ]
        for one in given_up:
            del self._seats[one]
        self._seats[rank] = Seat(node, generation)
        self._newcomers.append(rank)
        return True

    def _settle(self) -> None:
        ranks = tuple(self._seats)
        if ranks != self.ranks or self._newcomers or self._renewed:
            self._plans.clear()
            self.nodes = frozenset(seat.node for seat in self._seats.values())
        if ranks != self.ranks:
            self.ranks, self.places = ranks, {rank: at for at, rank in enumerate(ranks)}


def _turns(told: list[tuple[int, int]]) -> tuple[Turn, ...]:
    """Rows and places, divided so that no place comes twice in a turn."""
    turns: list[list[tuple[int, int]]] = []
    met: dict[int, int] = {}
    for row, place in told:
        turn = met[place] = met.get(place, -1) + 1
        if turn == len(turns):
            turns.append([])
        turns[turn].append((row, place))
    return tuple(
        (np.array([row for row, _ in turn], np.intp), np.array([at for _, at in turn], np.intp))
        for turn in turns
    )
