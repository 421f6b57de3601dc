"""Counts, intervals, paired comparisons and thresholds."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.benchmark.staged import alarm, facts, fault
from paramedic.diagnosis.benchmark.bootstrap import compare, f1_interval
from paramedic.diagnosis.benchmark.counts import (
    Counts,
    area_under_precision_recall,
    poisson_upper_bound,
    ratio,
)
from paramedic.diagnosis.benchmark.outcome import Outcome, judge
from paramedic.diagnosis.benchmark.thresholds import best_threshold

RIGHT, WRONG = [alarm(60, 1)], [alarm(60, 2)]
RESAMPLES = 300


def outcomes(right: int, wrong: int, silent: int = 0, healthy_alarms: int = 0) -> list[Outcome]:
    """So many single faults found, mistaken for another machine, missed; and healthy jobs."""
    said = [RIGHT] * right + [WRONG] * wrong + [[]] * silent
    faulty = [judge(facts(fault(1), name=f"f{n}"), one, 0.0) for n, one in enumerate(said)]
    healthy = [judge(facts(name=f"h{n}"), RIGHT, 0.0) for n in range(healthy_alarms)]
    return [*faulty, *healthy]


def test_the_wrong_machine_costs_precision_and_recall() -> None:
    counts = Counts.of(outcomes(right=6, wrong=2))
    assert (counts.precision, counts.recall, counts.f1) == (0.75, 0.75, 0.75)


def test_false_alarms_of_healthy_jobs_cost_precision() -> None:
    counts = Counts.of(outcomes(right=6, wrong=0, healthy_alarms=6))
    assert (counts.precision, counts.recall) == (0.5, 1.0)


def test_ratios_of_nothing_are_zero() -> None:
    assert (Counts().precision, Counts().recall, Counts().f1, ratio(1, 0)) == (0, 0, 0, 0)


def test_the_area_is_that_under_the_best_precision_for_each_recall() -> None:
    never_wrong, careless = Counts(4, 0, 6), Counts(8, 8, 2)
    assert area_under_precision_recall([careless, never_wrong]) == pytest.approx(0.4 + 0.4 * 0.5)
    assert area_under_precision_recall([never_wrong]) == pytest.approx(0.4)
    assert area_under_precision_recall([Counts(10)]) == 1.0
    assert area_under_precision_recall([Counts(0, 3, 10)]) == area_under_precision_recall([]) == 0.0


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 9), st.integers(0, 9))
def test_one_more_threshold_never_takes_from_the_area(
    right: list[int], more: int, wrong: int
) -> None:
    some = [Counts(one, at, 9 - one) for at, one in enumerate(right)]
    area = area_under_precision_recall(some)
    greater = area_under_precision_recall([*some, Counts(more, wrong, 9 - more)])
    assert area - 1e-9 <= greater <= 1.0 + 1e-9


@pytest.mark.parametrize(("count", "bound"), [(0, 2.9957), (1, 4.7439), (10, 16.9622)])
def test_the_upper_bound_is_that_of_the_tables(count: int, bound: float) -> None:
    assert poisson_upper_bound(count) == pytest.approx(bound, abs=1e-4)


def test_the_interval_holds_the_figure_and_narrows_with_more_jobs() -> None:
    few, many = outcomes(8, 2), outcomes(80, 20)
    wide, narrow = f1_interval(few, RESAMPLES), f1_interval(many, RESAMPLES)
    assert narrow.low <= 0.8 <= narrow.high
    assert narrow.high - narrow.low < wide.high - wide.low


@given(
    st.lists(st.sampled_from(["right", "wrong", "silent"]), min_size=1, max_size=12), st.randoms()
)
def test_the_order_of_episodes_changes_no_figure(said: list[str], shuffler: random.Random) -> None:
    some = outcomes(said.count("right"), said.count("wrong"), said.count("silent"))
    others = list(some)
    shuffler.shuffle(others)
    assert f1_interval(others, RESAMPLES) == f1_interval(some, RESAMPLES)
    assert compare(others, some, RESAMPLES).difference == 0.0


def test_episodes_of_one_job_are_drawn_together() -> None:
    alone = outcomes(right=5, wrong=5)
    doubled = [*alone, *alone]  # the same jobs, twice as many witnesses that are none
    assert f1_interval(doubled, RESAMPLES) == f1_interval(alone, RESAMPLES)


def test_a_clear_winner_is_told_from_one_by_chance() -> None:
    clear = compare(outcomes(40, 0), outcomes(10, 30), RESAMPLES)
    assert clear.p_value < 0.01
    assert clear.low > 0
    chance = compare(outcomes(20, 20), outcomes(19, 21), RESAMPLES)
    assert chance.p_value > 0.05
    assert chance.low <= 0 < chance.high


def test_the_comparison_turns_round_with_its_sides() -> None:
    one, other = outcomes(9, 1), outcomes(5, 5)
    there, back = compare(one, other, RESAMPLES), compare(other, one, RESAMPLES)
    assert there.difference == -back.difference
    assert there.p_value == back.p_value


def test_a_comparison_on_different_episodes_is_refused() -> None:
    with pytest.raises(ValueError, match="same episodes"):
        compare(outcomes(3, 0), outcomes(2, 0), RESAMPLES)


def test_of_no_episodes_nothing_is_known() -> None:
    assert f1_interval([], RESAMPLES).high == 0.0
    assert compare([], [], RESAMPLES).p_value == 1.0


def test_validation_chooses_by_f1_and_healthy_false_alarms_count() -> None:
    tried = {1.0: outcomes(8, 0, healthy_alarms=20), 2.0: outcomes(6, 0, 2), 3.0: outcomes(1, 0, 7)}
    assert best_threshold(tried) == 2.0


def test_of_equally_good_thresholds_the_middle_one_is_taken() -> None:
    assert best_threshold({one: outcomes(3, 0) for one in (1.0, 2.0, 3.0, 4.0, 9.0)}) == 3.0
