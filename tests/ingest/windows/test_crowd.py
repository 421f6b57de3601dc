"""Plans are made once for rows that come again under the same names, and renewed when need be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paramedic.ingest.contract import Entity, Event, NodeName, Table
from paramedic.ingest.windows.crowd import Plans, Spread
from paramedic.ingest.windows.roster import Roster
from paramedic.ingest.windows.slot_array import Room
from paramedic.ingest.windows.slots import EntitySlots

Events = Callable[..., Event]
NODES = tuple(NodeName(name) for name in "aabbcc")
INDICES = (0, 1, 0, 1, 0, 1)


def gpus(nodes: tuple[NodeName, ...] = NODES) -> Table:
    return Table(Entity.GPU, nodes, INDICES[: len(nodes)], {})


def again(nodes: tuple[NodeName, ...]) -> tuple[NodeName, ...]:
    """The same names in another object."""
    return (*list(nodes),)


@pytest.fixture
def roster() -> Roster:
    return Roster()


def test_the_same_names_have_the_same_plan(roster: Roster) -> None:
    plans = Plans()
    plan = plans.plan([gpus()], roster)
    assert plans.plan([gpus()], roster) is plan
    assert plans.plan([gpus(again(NODES))], roster) is not plan
    assert plan.crowd.nodes == ("a", "b", "c")
    assert plan.tables[0].members.tolist() == [0, 0, 1, 1, 2, 2]


def test_the_nodes_of_all_tables_are_one_crowd(roster: Roster) -> None:
    hosts = Table(Entity.NODE, (NodeName("c"), NodeName("d")), None, {})
    plan = Plans().plan([gpus(), hosts], roster)
    assert plan.crowd.nodes == ("a", "b", "c", "d")
    assert plan.tables[1].members.tolist() == [2, 3]
    assert plan.tables[1].rows(plan.tables[1].present) == [("c", None), ("d", None)]


def test_a_node_that_leaves_or_returns_makes_a_new_plan(roster: Roster, membership: Events) -> None:
    plans = Plans()
    roster.apply(membership("left", "b"))
    without = plans.plan([gpus()], roster)
    assert without.tables[0].present.tolist() == [0, 1, 4, 5]
    assert plans.plan([gpus()], roster) is without
    roster.apply(membership("joined", "b"))
    assert plans.plan([gpus()], roster).tables[0].present.size == 6
    assert plans.rows == 6


def test_plans_that_were_not_needed_for_long_are_forgotten(roster: Roster) -> None:
    plans = Plans(rows_kept=13)
    kept, first = again(NODES), again(NODES)
    plan, forgotten = plans.plan([gpus(kept)], roster), plans.plan([gpus(first)], roster)
    assert plans.plan([gpus(kept)], roster) is plan
    plans.plan([gpus()], roster)
    assert plans.plan([gpus(kept)], roster) is plan
    assert plans.rows == 12
    assert plans.plan([gpus(first)], roster) is not forgotten


def test_rows_are_looked_up_anew_after_others_have_left(roster: Roster) -> None:
    slots = EntitySlots(Entity.GPU, Room(4, 4))
    (table,) = Plans().plan([gpus()], roster).tables
    assert table.places(table.present, slots).positions.tolist() == [0, 1, 2, 3, 4, 5]
    slots.forget(lambda row: row[0] == "a")
    slots.row_keys()
    assert table.places(table.present[2:], slots).positions.tolist() == [0, 1, 2, 3]
    assert table.places(table.present, slots).positions.tolist() == [4, 5, 0, 1, 2, 3]


@pytest.mark.parametrize(("limit", "middle", "within"), [(1, 0, False), (2, 0, True), (1, 1, True)])
def test_a_spread_is_within_a_limit_of_a_middle(limit: int, middle: int, within: bool) -> None:
    assert Spread(0.0, 2.0).is_within(limit, middle) is within
