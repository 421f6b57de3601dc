"""A machine that goes on is told once, and once more after a minute's quiet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from models.rivals.machines import FIRST, named, names
from paramedic.ingest.contract import NodeName
from paramedic.models.telling import QUIET_SECONDS, told_once

A, B = names(2)
accusations = st.lists(st.tuples(st.integers(0, 400), st.sampled_from([A, B])), max_size=30)


def test_the_minute_itself_is_not_quiet_enough_and_a_second_more_is() -> None:
    quiet, enough = (told_once([(FIRST, A, 1.0), (FIRST + s, A, 1.0)]) for s in (60, 61))
    assert [named(quiet), named(enough)] == [[(0, (A,))], [(0, (A,)), (61, (A,))]]


def test_quiet_is_counted_from_the_last_accusation_and_not_from_the_alarm() -> None:
    seconds = (0, 50, 100, 150)
    assert named(told_once((FIRST + s, A, 1.0) for s in seconds)) == [(0, (A,))]


def test_one_machine_keeps_no_other_quiet() -> None:
    said = told_once([(FIRST, A, 1.0), (FIRST + 1, B, 2.0), (FIRST + 2, A, 3.0)])
    assert named(said) == [(0, (A,)), (1, (B,))]


def test_an_alarm_has_the_score_of_its_own_second() -> None:
    said = told_once([(FIRST, A, 1.5), (FIRST + 1, A, 9.0), (FIRST + 99, A, 4.0)])
    assert [one.score for one in said] == [1.5, 4.0]


def test_a_shorter_quiet_may_be_wished_for() -> None:
    calls = [(FIRST + second, A, 1.0) for second in (0, 10, 21)]
    assert named(told_once(calls, quiet_seconds=10)) == [(0, (A,)), (21, (A,))]
    assert not told_once([])


@given(accusations)
def test_alarms_of_a_machine_begin_where_it_had_been_quiet(
    calls: list[tuple[int, NodeName]],
) -> None:
    told = told_once((FIRST + second, node, 1.0) for second, node in sorted(calls))
    for node in (A, B):
        seconds = sorted(second for second, who in calls if who == node)
        gaps = zip([-1000, *seconds], seconds, strict=False)
        expected = [here for before, here in gaps if here - before > QUIET_SECONDS]
        assert [one.second - FIRST for one in told if one.nodes == (node,)] == expected
