"""The decision level: whether the stated rate of false alarms is the real one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.sequential import (
    SLOTS_PER_DAY,
    Noise,
    confidence,
    decision_level,
    slots_to_false_alarm,
)

pytestmark = pytest.mark.long


INDEPENDENT = Noise()


def mean_slots_to_alarm(level: float, allowance: float, correlation: float, runs: int) -> float:
    """The same by simulation: many tests side by side until every one has alarmed."""
    rng = np.random.default_rng(1)
    score, noise, took = np.zeros(runs), rng.normal(size=runs), np.full(runs, np.nan)
    keep = math.sqrt(1 - correlation**2)
    slot = 0
    while np.isnan(took).any():
        slot += 1
        noise = correlation * noise + keep * rng.normal(size=runs)
        score = np.maximum(0.0, score + noise - allowance)
        took[np.isnan(took) & (score >= level)] = slot
    return float(took.mean())


@pytest.mark.parametrize(("level", "allowance"), [(3.0, 0.5), (4.0, 0.5), (2.5, 1.0)])
def test_the_approximation_agrees_with_simulation(level: float, allowance: float) -> None:
    simulated = mean_slots_to_alarm(level, allowance, 0.0, runs=400)
    assert slots_to_false_alarm(level, allowance, INDEPENDENT) == pytest.approx(simulated, rel=0.2)


def test_for_correlated_noise_the_approximation_is_on_the_safe_side() -> None:
    simulated = mean_slots_to_alarm(7.0, 1.0, 0.5, runs=150)
    stated = slots_to_false_alarm(7.0, 1.0, Noise.correlated(0.5))
    assert stated < simulated < stated * 10


@given(
    rate=st.floats(1e-4, 10.0),
    tests=st.integers(1, 4096),
    allowance=st.floats(0.3, 2.0),
    correlation=st.floats(0.0, 0.8),
)
def test_the_level_gives_the_rate_it_was_asked_for(
    rate: float, tests: int, allowance: float, correlation: float
) -> None:
    noise = Noise.correlated(correlation)
    level = decision_level(rate, tests, allowance, noise)
    alarms_per_day = SLOTS_PER_DAY * tests / slots_to_false_alarm(level, allowance, noise)
    assert alarms_per_day <= rate * 1.001


@given(st.integers(1, 1000), st.integers(2, 10))
def test_more_ranks_need_more_evidence(tests: int, times: int) -> None:
    few, many = (
        decision_level(0.01, n, 1.0, Noise.correlated(0.5)) for n in (tests, tests * times)
    )
    assert few < many < few + 3 * math.log(times) + 1


def test_evidence_above_the_level_makes_surer() -> None:
    sure = [
        confidence(surplus, 0.01, 0.2, 1.0, Noise.correlated(0.5)) for surplus in (0.0, 2.0, 10.0)
    ]
    assert 0.95 < sure[0] < sure[1] < sure[2] < 1.0
