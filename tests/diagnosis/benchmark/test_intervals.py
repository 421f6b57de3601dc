"""How sure the figures are: intervals, paired tests, and bounds on false alarms."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.benchmark.staged import alarm, facts, fault
from paramedic.diagnosis.benchmark.bootstrap import Interval, compare, f1_interval
from paramedic.diagnosis.benchmark.counts import Counts, poisson_upper_bound
from paramedic.diagnosis.benchmark.outcome import Outcome, judge
from paramedic.ingest.contract import JobName

RESAMPLES = 400


def episode(at: int, is_right: bool, job: str | None = None) -> Outcome:
    """A single fault that was found, or for which another machine was accused."""
    name = f"e{at:03}"
    known = replace(facts(fault(1), name=name), job=JobName(job or name))
    return judge(known, [alarm(60, 1 if is_right else 2)], 0.0)


def episodes(right: int, wrong: int, jobs: int | None = None) -> list[Outcome]:
    """Each in a job of its own, or dealt out to so many jobs."""
    return [
        episode(at, at < right, None if jobs is None else f"job-{at % jobs}")
        for at in range(right + wrong)
    ]


def width(interval: Interval) -> float:
    return interval.high - interval.low


@given(st.integers(0, 15), st.integers(0, 15), st.integers(1, 6))
def test_the_interval_is_a_part_of_zero_to_one_and_holds_the_figure(
    right: int, wrong: int, jobs: int
) -> None:
    some = episodes(right, wrong, jobs)
    interval = f1_interval(some, RESAMPLES)
    assert 0.0 <= interval.low <= interval.high <= 1.0
    assert interval.low - 1e-9 <= Counts.of(some).f1 <= interval.high + 1e-9


def test_the_same_outcomes_have_the_same_interval_whatever_was_drawn_before() -> None:
    first = f1_interval(episodes(7, 3), RESAMPLES)
    f1_interval(episodes(2, 5), RESAMPLES)
    assert f1_interval(episodes(7, 3), RESAMPLES) == first
    assert width(first) > 0


def test_four_times_the_jobs_halve_the_width() -> None:
    few, many = f1_interval(episodes(30, 10)), f1_interval(episodes(120, 40))
    assert width(few) / width(many) == pytest.approx(2.0, rel=0.15)


def test_the_width_is_that_of_independent_jobs() -> None:
    """Each job is a hit, or a false alarm and a miss, so F1 is the share of hits."""
    interval = f1_interval(episodes(75, 25))
    assert width(interval) == pytest.approx(2 * 1.96 * math.sqrt(0.75 * 0.25 / 100), rel=0.1)


def test_more_episodes_of_the_same_jobs_make_nobody_surer() -> None:
    by_job = [episode(at, is_right=at % 10 < 7, job=f"job-{at % 10}") for at in range(100)]
    of_ten_jobs, alone = f1_interval(by_job), f1_interval(episodes(7, 3))
    assert width(of_ten_jobs) == pytest.approx(width(alone), abs=1e-9)
    assert width(of_ten_jobs) > 2 * width(f1_interval(episodes(70, 30)))


def test_one_job_can_only_be_drawn_whole() -> None:
    interval = f1_interval(episodes(3, 1, jobs=1), RESAMPLES)
    assert (interval.low, interval.high) == (0.75, 0.75)
    against = compare(episodes(3, 1, jobs=1), episodes(1, 3, jobs=1), RESAMPLES)
    assert (against.low, against.high) == (against.difference, against.difference) == (0.5, 0.5)


@given(st.integers(0, 10), st.integers(1, 10))
def test_equal_detectors_are_told_apart_by_nothing(right: int, wrong: int) -> None:
    equal = compare(episodes(right, wrong), episodes(right, wrong), RESAMPLES)
    assert (equal.difference, equal.low, equal.high, equal.p_value) == (0.0, 0.0, 0.0, 1.0)


def test_two_that_are_right_equally_often_elsewhere_are_not_told_apart() -> None:
    mirrored = [episode(at, is_right=at >= 10) for at in range(20)]
    chance = compare(episodes(10, 10), mirrored, RESAMPLES)
    assert chance.difference == 0.0
    assert chance.p_value > 0.5
    assert chance.low < 0 < chance.high


def test_who_is_right_wherever_the_other_is_and_elsewhere_too_wins_by_the_paired_test() -> None:
    """Intervals of their own overlap; on the same jobs, one is never behind."""
    better, worse = episodes(40, 20), episodes(32, 28)
    assert f1_interval(better, RESAMPLES).low < f1_interval(worse, RESAMPLES).high
    paired = compare(better, worse, RESAMPLES)
    assert paired.p_value < 0.01
    assert paired.low > 0
    assert paired.difference == pytest.approx(8 / 60)


@pytest.mark.parametrize("resamples", [99, 999])
def test_no_p_value_is_smaller_than_the_resamples_can_tell(resamples: int) -> None:
    total = compare(episodes(30, 0), episodes(0, 30), resamples)
    assert total.p_value == pytest.approx(2 / (resamples + 1))


def test_one_job_of_difference_proves_nothing() -> None:
    assert compare(episodes(20, 10), episodes(19, 11), RESAMPLES).p_value > 0.1


@pytest.mark.parametrize(
    ("count", "bound"),
    [(2, 6.2958), (3, 7.7537), (5, 10.5130), (20, 29.0620), (100, 118.0787)],
)
def test_the_bound_of_false_alarms_is_half_a_quantile_of_chi_square(
    count: int, bound: float
) -> None:
    assert poisson_upper_bound(count) == pytest.approx(bound, abs=2e-3)


def test_the_bound_of_no_false_alarm_is_known_in_closed_form() -> None:
    for confidence in (0.5, 0.9, 0.95, 0.99):
        expected = -math.log(1 - confidence)
        assert poisson_upper_bound(0, confidence) == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 60))
def test_the_bound_grows_with_the_count_and_with_the_confidence(count: int) -> None:
    bound = poisson_upper_bound(count)
    assert count < bound < poisson_upper_bound(count + 1)
    assert poisson_upper_bound(count, 0.8) < bound < poisson_upper_bound(count, 0.99)
