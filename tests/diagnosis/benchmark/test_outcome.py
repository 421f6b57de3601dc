"""Scoring one episode: machine-exact, with a deadline, without point adjustment."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.benchmark.staged import BEGIN, NODES, alarm, facts, fault
from paramedic.diagnosis.benchmark.episodes import Facts, Fault
from paramedic.diagnosis.benchmark.outcome import COOL_DOWN_SECONDS, Outcome, deadline, judge
from paramedic.models.detection import Alarm

ONE = facts(fault(1, at=50))
HEALTHY = facts()


def counts(known: Facts, *alarms: Alarm) -> tuple[int, int, int]:
    """Hits, false alarms, misses."""
    outcome = judge(known, alarms, 0.0)
    return outcome.hits, outcome.false_alarms, outcome.misses


def test_the_right_machine_in_time_is_a_hit_with_its_delay() -> None:
    outcome = judge(ONE, [alarm(60, 1, family="ecc_error")], 0.5)
    assert (outcome.hits, outcome.false_alarms, outcome.misses) == (1, 0, 0)
    assert outcome.found[0].delay_seconds == 11  # the slot of second 60 closed in second 61
    assert outcome.found[0].is_family_right


def test_the_wrong_machine_is_a_false_alarm_and_leaves_the_fault_missed() -> None:
    assert counts(ONE, alarm(60, 2)) == (0, 1, 1)


def test_an_alarm_before_the_onset_is_false_even_about_the_right_machine() -> None:
    assert counts(ONE, alarm(49, 1)) == (0, 1, 1)
    assert counts(ONE, alarm(49, 1), alarm(50, 1)) == (1, 1, 0)


def test_an_alarm_after_the_deadline_is_a_miss_and_nothing_more() -> None:
    assert counts(ONE, alarm(50 + 600, 1)) == (1, 0, 0)
    assert counts(ONE, alarm(50 + 601, 1)) == (0, 0, 1)


def test_the_halt_of_the_job_comes_before_the_ten_minutes() -> None:
    halted = facts(fault(1, at=50, halted_at=BEGIN + 100))
    assert deadline(halted.faults[0]) == BEGIN + 100
    assert counts(halted, alarm(101, 1)) == (0, 0, 1)


def test_an_accusation_long_after_the_fault_was_over_is_false() -> None:
    over = facts(fault(1, at=50, end=BEGIN + 100))
    assert counts(over, alarm(120, 1)) == (1, 0, 0)
    assert counts(over, alarm(60, 1), alarm(50 + 601, 1)) == (1, 1, 0)


def test_a_job_in_which_nothing_broke_has_false_alarms_alone() -> None:
    assert counts(HEALTHY) == (0, 0, 0)
    assert counts(HEALTHY, alarm(5, 0), alarm(5, 3)) == (0, 2, 0)


def test_repeats_within_the_cool_down_are_one_false_alarm() -> None:
    soon = [alarm(at, 0) for at in (0, 60, COOL_DOWN_SECONDS - 1)]
    assert counts(HEALTHY, *soon) == (0, 1, 0)
    assert counts(HEALTHY, *soon, alarm(COOL_DOWN_SECONDS, 0)) == (0, 2, 0)


def test_of_several_that_broke_at_once_the_named_set_is_told() -> None:
    outcome = judge(facts(fault(0, at=50), fault(1, 2, at=52)), [alarm(60, 0, 1, 3)], 0.0)
    assert (outcome.hits, outcome.false_alarms, outcome.misses) == (2, 1, 1)
    assert outcome.named_set is not None
    told = outcome.named_set
    assert (told.accused, told.broken, told.right) == (3, 3, 2)


def test_a_group_that_is_named_together_accuses_nobody() -> None:
    switch = facts(fault(0, 1, 2, is_group=True))
    outcome = judge(switch, [alarm(60, 0, 1, 2)], 0.0)
    assert (outcome.found, outcome.false_alarms) == ((), 0)
    assert outcome.groups[0].is_reported
    assert not outcome.groups[0].is_one_accused


@pytest.mark.parametrize("alarms", [[alarm(60, 0)], [alarm(60, 0), alarm(70, 1), alarm(80, 0, 2)]])
def test_accusing_members_of_a_group_one_by_one_is_one_false_alarm(alarms: list[Alarm]) -> None:
    outcome = judge(facts(fault(0, 1, 2, is_group=True)), alarms, 0.0)
    assert outcome.false_alarms == 1
    assert outcome.groups[0].is_one_accused
    assert not outcome.groups[0].is_reported


def test_accusing_everybody_is_no_report_of_one_machine() -> None:
    assert counts(ONE, alarm(60, 0, 1, 2, 3)) == (1, 3, 0)


ALARMS = st.lists(st.builds(alarm, st.integers(0, 999), st.integers(0, 3)), max_size=12)
FAULTS = st.lists(
    st.builds(
        lambda node, at, halt: fault(node, at=at, halted_at=halt and BEGIN + at + halt),
        st.integers(0, 3), st.integers(1, 900), st.none() | st.integers(1, 700),
    ),
    max_size=3, unique_by=lambda one: one.nodes,
)  # fmt: skip


def perfect(faults: list[Fault]) -> list[Alarm]:
    return [Alarm(one.onset, one.nodes, 1.0) for one in faults]


@given(FAULTS)
def test_a_perfect_detector_finds_everything_and_a_silent_one_nothing(faults: list[Fault]) -> None:
    known = facts(*faults)
    assert counts(known, *perfect(faults)) == (len(faults), 0, 0)
    assert counts(known) == (0, 0, len(faults))


@given(FAULTS, ALARMS)
def test_neither_repetition_nor_order_of_alarms_matters(
    faults: list[Fault], alarms: list[Alarm]
) -> None:
    known = facts(*faults)
    once = judge(known, alarms, 0.0)
    assert judge(known, [*alarms, *alarms], 0.0) == once
    assert judge(known, alarms[::-1], 0.0) == once


@given(FAULTS, ALARMS, ALARMS)
def test_more_alarms_never_unfind_a_fault_nor_take_a_false_alarm_back(
    faults: list[Fault], alarms: list[Alarm], more: list[Alarm]
) -> None:
    def tally(outcome: Outcome) -> tuple[int, int]:
        return sum(one.delay_seconds is not None for one in outcome.found), outcome.false_alarms

    known = facts(*faults)
    few, many = judge(known, alarms, 0.0), judge(known, [*alarms, *more], 0.0)
    assert tally(many)[0] >= tally(few)[0]
    assert len(many.found) == len(few.found) == len(faults)


def test_facts_come_back_from_json_as_they_were() -> None:
    known = replace(facts(fault(0, 2, is_group=True)), missing_share=0.1)
    assert Facts.from_json(known.to_json()) == known
    assert known.faults[0].nodes == (NODES[0], NODES[2])
