"""Evidence of a rise: what decides, what is learned, when it is over."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.application.rising import Rise, RiseRule
from paramedic.diagnosis.application.unsaid import Unsaid
from paramedic.diagnosis.application.usual import Prior

RULE = RiseRule(
    Prior(0.1, 2.0, least_values=3), least_rise=0.2, false_alarms_per_day=0.01, calm_to_settle=5
)


def played(values: list[float], every_seconds: int = 1, rule: RiseRule = RULE) -> Rise:
    rise = Rise(rule)
    for at, value in enumerate(values):
        rise.add(value, at * every_seconds)
    return rise


def quiet(count: int, seed: int = 0) -> list[float]:
    found: list[float] = np.random.default_rng(seed).normal(1.0, 0.1, count).tolist()
    return found


def test_a_rise_decides_after_a_few_values_and_begins_where_it_began() -> None:
    rise = played([*quiet(60), *[3.0] * 4])
    assert rise.is_decided
    assert rise.since == 60
    assert rise.mean_rise == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("values", [[3.0], [3.0, 3.0], [1.19] * 40])
def test_one_or_two_values_decide_nothing_nor_does_what_does_not_matter(
    values: list[float],
) -> None:
    assert not played([*quiet(60), *values]).is_decided


def test_what_cannot_matter_is_no_evidence() -> None:
    rise = played(quiet(60))
    for at in range(20):
        rise.add(9.0, 60 + at, counts=False)
    assert rise.score == 0


def test_slow_series_need_less_evidence_for_they_can_be_wrong_less_often() -> None:
    values = quiet(60)
    quick, slow = played(values), played(values, every_seconds=100)
    assert quick.level - slow.level == pytest.approx(math.log(100))


def test_nothing_of_a_rise_that_is_decided_becomes_usual() -> None:
    rise = played([*quiet(60), *[3.0] * 300])
    assert rise.usual == pytest.approx(1.0, abs=0.1)
    assert rise.is_on


def test_it_is_over_after_a_calm() -> None:
    values = [*quiet(60), *[3.0] * 10]
    assert played([*values, *quiet(4, seed=1)]).is_decided
    assert not played([*values, *quiet(4, seed=1)]).is_on
    over = played([*values, *quiet(5, seed=1)])
    assert (over.is_decided, over.score) == (False, 0.0)


def test_odd_values_are_learned_once_they_turn_out_to_be_nothing() -> None:
    rise = played([*quiet(60), 3.0])
    assert 3.0 not in rise.past.values
    for at in range(10):
        rise.add(1.0, 61 + at)
    assert 3.0 in rise.past.values


def test_where_evidence_often_climbs_for_nothing_more_is_wanted() -> None:
    restless = played([value for _ in range(60) for value in [*quiet(3), 2.0, 1.9]])
    assert restless.level > played(quiet(300)).level


def test_after_a_restart_the_usual_is_another() -> None:
    rise = played(quiet(60))
    rise.restart()
    for at in range(60):
        rise.add(5.0, 60 + at)
    assert rise.usual == 5.0
    assert not rise.is_decided


@given(st.integers(0, 1000), st.floats(0.0, 0.2))
def test_noise_that_is_louder_than_assumed_decides_nothing_and_a_copy_goes_on_alike(
    seed: int, size: float
) -> None:
    values = (1.0 + size * np.random.default_rng(seed).normal(0, 1, 80)).tolist()
    rise = played(values[:40])
    copied = copy.deepcopy(rise)
    for at, value in enumerate(values[40:]):
        rise.add(value, 40 + at)
        copied.add(value, 40 + at)
    assert not rise.is_decided
    assert copied == rise


def test_what_always_came_may_not_stay_away_for_long() -> None:
    always, sometimes = Unsaid(), Unsaid()
    for second in range(200):
        always.follow(second, is_told=True)
        sometimes.follow(second, is_told=second % 5 == 0)
    for second in range(200, 204):
        always.follow(second, is_told=False)
        sometimes.follow(second, is_told=False)
    assert (always.since, sometimes.since) == (200, 196)
    assert always.nats > 18
    assert sometimes.nats < 3
    always.follow(204, is_told=True)
    assert always.nats == 0


def test_what_never_came_is_not_missed() -> None:
    never = Unsaid()
    for second in range(500):
        never.follow(second, is_told=False)
    assert never.nats == 0
