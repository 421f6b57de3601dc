"""Membership: who has left, and which generation of a rank is the current one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paramedic.ingest.contract import Event, NodeName
from paramedic.ingest.windows.roster import Roster

Events = Callable[..., Event]
A, B = NodeName("a"), NodeName("b")


@pytest.fixture
def roster() -> Roster:
    return Roster()


@pytest.mark.parametrize("change", ["left", "replaced_by"])
def test_a_node_that_goes_is_named(roster: Roster, membership: Events, change: str) -> None:
    assert roster.apply(membership(change, "a")) == A
    assert roster.live([A, B]) == [B]


def test_a_node_that_joins_is_live(roster: Roster, membership: Events) -> None:
    roster.apply(membership("left", "a"))
    assert roster.apply(membership("joined", "a")) is None
    assert roster.live([A]) == [A]


def test_a_successor_that_had_left_is_live_again(roster: Roster, membership: Events) -> None:
    roster.apply(membership("left", "b"))
    roster.apply(membership("replaced_by", "a", by="b"))
    assert roster.live([A, B]) == [B]


def test_a_change_that_is_not_known_changes_nothing(roster: Roster, membership: Events) -> None:
    assert roster.apply(membership("promoted", "a")) is None
    assert roster.live([A]) == [A]


def test_the_generation_only_grows(roster: Roster, membership: Events) -> None:
    assert roster.generation == 0
    roster.hear(3)
    roster.apply(membership("joined", "a", generation=2))
    assert roster.generation == 3
    roster.apply(membership("joined", "a", generation=5))
    assert roster.generation == 5


def test_a_rank_and_its_node_are_renewed_once_for_each_newer_generation(roster: Roster) -> None:
    assert roster.renew([(A, 0), (B, 1)], 0) == frozenset()
    assert roster.renew([(B, 1)], 1) == {B, 1}
    assert roster.renew([(B, 1)], 1) == frozenset()
    rows: list[tuple[NodeName, int]] = [(A, 0), (B, 1), (A, 1), (B, 0), (NodeName("c"), 2)]
    assert [roster.is_current(row, 0) for row in rows] == [True, False, False, False, True]
