"""What is usual for a series, and how odd a higher value is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.application.usual import Past, Prior, Usual

VAGUE = Prior(deviation=0.01, weight=0.01, least_values=2)


def past_of(values: list[float], prior: Prior = VAGUE) -> Past:
    past = Past(prior)
    for value in values:
        past.learn(value)
    return past


def usual_of(values: list[float], prior: Prior = VAGUE) -> Usual:
    usual = past_of(values, prior).usual()
    assert usual is not None
    return usual


def noise(count: int, seed: int = 0) -> list[float]:
    found: list[float] = np.random.default_rng(seed).normal(0.0, 1.0, count).tolist()
    return found


def test_too_few_values_say_nothing() -> None:
    assert past_of([1.0], Prior(0.1, 1.0, least_values=2)).usual() is None


def test_before_much_is_seen_the_prior_is_the_noise() -> None:
    usual = usual_of([1.0, 1.0], Prior(0.1, 8.0, least_values=1))
    assert usual.level == 1.0
    assert 0.09 < usual.deviation < 0.15


def test_much_that_is_seen_outweighs_the_prior() -> None:
    usual = usual_of(noise(128), Prior(0.001, 2.0, least_values=1))
    assert abs(usual.level) < 0.3
    assert usual.deviation == pytest.approx(1.0, rel=0.3)


def test_high_values_do_not_widen_the_noise() -> None:
    plain = usual_of(noise(100))
    spiked = usual_of([*noise(100), *[1e6] * 10])
    assert spiked.deviation < 2 * plain.deviation


def test_what_wanders_is_noisier_than_it_looks() -> None:
    fresh, walk = noise(128), [0.0]
    for one in fresh:
        walk.append(0.9 * walk[-1] + math.sqrt(1 - 0.81) * one)
    assert usual_of(walk).deviation > 2 * usual_of(fresh).deviation


@given(st.floats(-50, 50), st.floats(0.1, 100.0), st.integers(3, 60))
def test_oddness_knows_no_unit(shift: float, scale: float, count: int) -> None:
    values = noise(count)
    prior = Prior(0.1 * scale, 2.0, least_values=1)
    plain = usual_of(values, Prior(0.1, 2.0, least_values=1))
    moved = usual_of([shift + scale * value for value in values], prior)
    nats = plain.nats(2.5, 1, count), moved.nats(shift + scale * 2.5, 1, count)
    assert nats[0] == pytest.approx(nats[1], rel=1e-3, abs=1e-3)


@given(st.floats(0.0, 30.0), st.floats(0.0, 30.0))
def test_higher_is_never_less_odd_and_one_value_never_decides(one: float, other: float) -> None:
    usual = Usual(level=0.0, deviation=1.0, freedom=3, highest=2.0)
    low, high = sorted((one, other))
    assert usual.nats(low, 0, 50) <= usual.nats(high, 0, 50) + 1e-9 <= 8.0 + 1e-9


def test_what_many_have_reached_is_not_odd_however_far_it_is() -> None:
    usual = Usual(level=0.0, deviation=1.0, freedom=4, highest=9.0)
    assert usual.nats(8.0, 40, 100) == pytest.approx(math.log(130 / 41))
    assert usual.nats(8.0, 0, 100) > 4


def test_fewer_degrees_of_freedom_are_less_sure() -> None:
    nats = [Usual(0.0, 1.0, freedom, 0.0).nats(4.0, 0, 100) for freedom in (1, 2, 3, 4)]
    assert nats == sorted(nats)


def test_the_usual_follows_a_fall_and_rises_slowly() -> None:
    past = past_of(noise(128))
    past.usual()
    for value in noise(128, seed=1):
        past.learn(value - 5.0)
        fallen = past.usual()
    assert fallen is not None
    assert fallen.level == pytest.approx(-5.0, abs=0.4)
    for value in noise(90, seed=2):
        past.learn(value)
        risen = past.usual()
    assert risen is not None
    assert risen.level < -1.0, "the median is at 0 by now"
