"""Scoring at its edges: the first and the last second, sets, groups, repeats, one after another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.benchmark.staged import BEGIN, NODES, alarm, facts, fault
from paramedic.diagnosis.benchmark.counts import Counts
from paramedic.diagnosis.benchmark.episodes import Fault
from paramedic.diagnosis.benchmark.outcome import (
    COOL_DOWN_SECONDS,
    DEADLINE_SECONDS,
    NamedSet,
    Outcome,
    judge,
)
from paramedic.ingest.contract import NodeName
from paramedic.models.detection import Alarm

ONSET = 50
LAST = ONSET + DEADLINE_SECONDS
RACK = tuple(NodeName(f"rack-node-{n}") for n in range(5))
OUTSIDERS = tuple(NodeName(f"other-node-{n}") for n in range(3))


def judged(*faults: Fault, alarms: list[Alarm]) -> Outcome:
    return judge(facts(*faults), alarms, 0.0)


def tally(outcome: Outcome) -> Counts:
    return Counts.of([outcome])


@pytest.mark.parametrize(
    ("at", "expected", "delay"),
    [
        (ONSET - 1, Counts(0, 1, 1), None),
        (ONSET, Counts(1, 0, 0), 1),
        (LAST, Counts(1, 0, 0), DEADLINE_SECONDS + 1),
        (LAST + 1, Counts(0, 0, 1), DEADLINE_SECONDS + 2),
    ],
)
def test_the_window_has_the_second_of_the_onset_and_that_of_the_deadline_in_it(
    at: int, expected: Counts, delay: int | None
) -> None:
    outcome = judged(fault(1, at=ONSET), alarms=[alarm(at, 1)])
    assert tally(outcome) == expected
    assert outcome.found[0].delay_seconds == delay


@pytest.mark.parametrize("end", [1, 60, DEADLINE_SECONDS, DEADLINE_SECONDS + 1])
def test_in_the_last_second_a_fault_that_is_over_is_found_and_nobody_wronged(end: int) -> None:
    over = fault(1, at=ONSET, end=BEGIN + ONSET + end)
    assert tally(judged(over, alarms=[alarm(LAST, 1)])) == Counts(1, 0, 0)


@pytest.mark.parametrize(
    ("at", "expected"), [(100, Counts(1, 0, 0)), (101, Counts(0, 1, 1)), (99, Counts(1, 0, 0))]
)
def test_in_the_second_of_the_halt_there_was_still_somebody_to_be_named(
    at: int, expected: Counts
) -> None:
    halted = fault(1, at=ONSET, halted_at=BEGIN + 100, end=BEGIN + 100)
    assert tally(judged(halted, alarms=[alarm(at, 1)])) == expected


def test_a_fault_that_lasts_is_accused_rightly_until_it_ends() -> None:
    end = LAST + 200
    lasting = fault(1, at=ONSET, end=BEGIN + end)
    in_time = alarm(ONSET, 1)
    assert tally(judged(lasting, alarms=[in_time, alarm(end - 1, 1)])) == Counts(1, 0, 0)
    assert tally(judged(lasting, alarms=[in_time, alarm(end, 1)])) == Counts(1, 1, 0)


@given(st.integers(0, 949), st.integers(0, 3), st.none() | st.integers(1, 900))
def test_one_accusation_is_a_hit_or_a_false_alarm_and_never_both(
    at: int, node: int, lasted: int | None
) -> None:
    one = fault(1, at=ONSET, end=None if lasted is None else BEGIN + ONSET + lasted)
    counts = tally(judged(one, alarms=[alarm(at, node)]))
    assert counts.hits + counts.misses == 1
    assert counts.hits + counts.false_alarms <= 1


def test_the_wrong_machine_costs_twice_what_silence_costs_once() -> None:
    silence = tally(judged(fault(1), alarms=[]))
    wrong = tally(judged(fault(1), alarms=[alarm(60, 2)]))
    assert (silence.false_alarms, silence.misses) == (0, 1)
    assert (wrong.false_alarms, wrong.misses) == (1, 1)
    corrected = tally(judged(fault(1), alarms=[alarm(60, 2), alarm(61, 1)]))
    assert corrected == Counts(1, 1, 0)


@pytest.mark.parametrize(
    ("named", "expected", "told"),
    [
        ((0, 1, 2), Counts(3, 0, 0), NamedSet(3, 3, 3)),
        ((0, 1, 3), Counts(2, 1, 1), NamedSet(3, 3, 2)),
        ((0, 1), Counts(2, 0, 1), NamedSet(2, 3, 2)),
        ((0, 1, 2, 3), Counts(3, 1, 0), NamedSet(4, 3, 3)),
    ],
)
def test_a_set_with_a_wrong_a_missing_or_a_needless_member_is_not_exact(
    named: tuple[int, ...], expected: Counts, told: NamedSet
) -> None:
    outcome = judged(fault(0, 1, 2, at=ONSET), alarms=[alarm(60, *named)])
    assert tally(outcome) == expected
    assert outcome.named_set == told


def test_a_set_of_one_is_no_set_and_who_is_named_outside_the_window_is_not_in_it() -> None:
    assert judged(fault(1), alarms=[alarm(60, 1, 2)]).named_set is None
    pair = fault(1, 2, at=ONSET)
    early_and_late = [alarm(ONSET - 1, 1), alarm(ONSET, 1), alarm(LAST + 1, 2)]
    assert judged(pair, alarms=early_and_late).named_set == NamedSet(1, 2, 1)


def group_alarm(at: int, members: int, outsiders: int = 0) -> Alarm:
    return Alarm(BEGIN + at, (*RACK[:members], *OUTSIDERS[:outsiders]), 1.0)


def rack_fault(members: int = 5) -> Fault:
    return Fault("switch_down", RACK[:members], BEGIN + ONSET, is_group=True)


@pytest.mark.parametrize(
    ("members", "outsiders", "is_reported", "false_alarms"),
    [
        (5, 0, True, 0),
        (4, 0, True, 0),  # four fifths of the group
        (4, 1, True, 0),  # and four fifths of who was named
        (3, 0, False, 1),
        (4, 2, False, 3),  # the group once, and two outsiders
        (1, 0, False, 1),
    ],
)
def test_a_group_is_reported_when_most_of_it_and_hardly_another_is_named(
    members: int, outsiders: int, is_reported: bool, false_alarms: int
) -> None:
    outcome = judged(rack_fault(), alarms=[group_alarm(60, members, outsiders)])
    assert outcome.groups[0].is_reported is is_reported
    assert outcome.groups[0].is_one_accused is not is_reported
    assert tally(outcome) == Counts(0, false_alarms, 0)


def test_two_machines_are_never_a_group_that_was_named_together() -> None:
    outcome = judged(rack_fault(members=2), alarms=[group_alarm(60, 2)])
    assert (outcome.groups[0].is_reported, outcome.false_alarms) == (False, 1)


def test_a_group_named_too_late_is_unreported_and_too_early_is_a_false_alarm_for_each() -> None:
    late = judged(rack_fault(), alarms=[group_alarm(LAST + 1, 5)])
    assert (late.groups[0].is_reported, late.false_alarms) == (False, 0)
    at_the_deadline = judged(rack_fault(), alarms=[group_alarm(LAST, 5)])
    assert at_the_deadline.groups[0].is_reported
    early = judged(rack_fault(), alarms=[group_alarm(ONSET - 1, 5)])
    assert (early.groups[0].is_one_accused, early.false_alarms) == (False, 5)


def test_a_member_of_a_group_that_is_broken_itself_is_accused_rightly() -> None:
    own = Fault("ecc_error", RACK[:1], BEGIN + ONSET)
    outcome = judged(rack_fault(), own, alarms=[group_alarm(60, 1)])
    assert tally(outcome) == Counts(1, 0, 0)
    assert not outcome.groups[0].is_one_accused


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([0, COOL_DOWN_SECONDS - 1], 1),
        ([0, COOL_DOWN_SECONDS], 2),
        ([0, 400, 800], 2),  # the one within the cool-down does not prolong it
        ([0, 599, 600, 1199, 1200], 3),
    ],
)
def test_the_cool_down_runs_from_the_false_alarm_that_was_counted(
    seconds: list[int], expected: int
) -> None:
    assert judged(alarms=[alarm(at, 0) for at in seconds]).false_alarms == expected


def test_each_machine_has_a_cool_down_of_its_own() -> None:
    assert judged(alarms=[alarm(0, 0), alarm(1, 1), alarm(2, 0, 1)]).false_alarms == 2


def test_of_two_faults_one_after_the_other_each_is_found_by_its_own_alarm() -> None:
    first = fault(0, at=ONSET, end=BEGIN + 200, kind="ecc_error")
    second = fault(1, at=300, kind="nic_dropout")
    both = judged(first, second, alarms=[
        alarm(60, 0, family="ecc_error"), alarm(310, 1, family="nic_dropout"),
    ])  # fmt: skip
    assert [one.delay_seconds for one in both.found] == [11, 11]
    assert all(one.is_family_right for one in both.found)
    assert tally(both) == Counts(2, 0, 0)
    only_second = judged(first, second, alarms=[alarm(310, 1)])
    assert [one.in_time for one in only_second.found] == [False, True]


def test_who_breaks_second_is_not_to_be_accused_while_only_the_first_is_broken() -> None:
    first, second = fault(0, at=ONSET), fault(1, at=300)
    assert tally(judged(first, second, alarms=[alarm(60, 1)])) == Counts(0, 1, 2)


def test_one_machine_that_breaks_twice_far_apart_has_to_be_named_twice() -> None:
    again = fault(0, at=ONSET + 2 * DEADLINE_SECONDS)
    first = fault(0, at=ONSET, end=BEGIN + 100)
    once = judged(first, again, alarms=[alarm(60, 0)])
    assert [one.in_time for one in once.found] == [True, False]
    between = alarm(LAST + 1, 0)  # the first is over, and the second has not begun
    assert tally(judged(first, again, alarms=[alarm(60, 0), between])) == Counts(1, 1, 1)
    assert once.facts.faults[0].nodes == (NODES[0],)
