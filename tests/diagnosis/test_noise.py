"""The noise of a job is measured while it runs, and decides how much evidence is wanted."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.healthy import KINDS, Healthy, alarms, slots_to_name, with_rate
from paramedic.diagnosis.noise import NoiseMemory
from paramedic.diagnosis.sequential import Noise

pytestmark = pytest.mark.long


ASSUMED = Noise.correlated(0.4)
ONE = np.zeros(1, np.intp)


def memory_of(ranks: int) -> NoiseMemory:
    memory = NoiseMemory(ASSUMED)
    memory.arrange(tuple(range(ranks)), ("m",))
    return memory


def measured(correlation: float, scale: float = 1.0, slots: int = 20_000) -> NoiseMemory:
    """What is known of a rank after so many slots of this noise."""
    rng, value, memory = np.random.default_rng(3), 0.0, memory_of(1)
    for fresh in rng.normal(0, scale, slots):
        value = correlation * value + (1 - correlation**2) ** 0.5 * float(fresh)
        memory.add(0, ONE, np.array([value]))
    return memory


def variance(memory: NoiseMemory) -> float:
    return float(memory.variances(0)[0])


@pytest.mark.parametrize(("correlation", "scale"), [(0.0, 1.0), (0.4, 1.0), (0.6, 1.0), (0.0, 2.0)])
def test_what_is_measured_is_what_the_noise_is(correlation: float, scale: float) -> None:
    true = Noise.correlated(correlation).wander * scale
    assert variance(measured(correlation, scale)) ** 0.5 == pytest.approx(true, rel=0.3)


def test_a_steady_difference_is_no_noise() -> None:
    memory = memory_of(1)
    for _ in range(4000):
        memory.add(0, ONE, np.array([4.0]))
    assert variance(memory) < 0.2


def test_a_rank_that_becomes_slow_moves_the_noise_little() -> None:
    memory = measured(0.4)
    usual = variance(memory)
    for slot in range(60):
        memory.add(0, ONE, np.array([5.0 if slot >= 10 else 0.0]))
    assert variance(memory) < 1.8 * usual


def test_a_batch_that_was_broken_off_counts_nothing() -> None:
    memory = memory_of(1)
    memory.add(0, ONE, np.zeros(1))
    memory.restart(memory.known)
    assumed = variance(memory)
    for _ in range(10):
        for slot in range(39):
            memory.add(0, ONE, np.array([5.0 * (-1) ** (slot // 20)]))
        memory.restart(memory.known)
    assert (variance(memory), float(memory.batches(0)[0])) == (assumed, 0)


def test_who_does_not_stay_begins_anew() -> None:
    memory = memory_of(2)
    rng = np.random.default_rng(1)
    for _ in range(400):
        memory.add(0, np.arange(2), rng.normal(0, 3.0, 2))
    learned = memory.variances(0).copy()
    memory.restart(np.array([[True, False]]))
    memory.add(0, np.arange(2), np.zeros(2))
    assert memory.variances(0).tolist() == [learned[0], ASSUMED.wander**2]


@given(st.lists(st.floats(0.0, 1e3), min_size=1, max_size=9), st.integers(0, 8))
def test_nobody_is_judged_by_its_own_noise(variances: list[float], at: int) -> None:
    memory, at, everybody = (
        memory_of(len(variances)),
        at % len(variances),
        np.arange(len(variances)),
    )
    memory.variances(0)[:] = variances
    before = memory.wander_of_others(0, everybody)
    memory.variances(0)[at] = 1e6
    after = memory.wander_of_others(0, everybody)
    assert after[at] == pytest.approx(before[at], abs=0.1001)
    assert before.min() >= ASSUMED.wander


@pytest.mark.parametrize("kind", ["usual", "heavy tail", "shared cores", "one always slower"])
def test_false_alarms_are_as_rare_as_stated(kind: str) -> None:
    """Seven minutes at a rate of 1200 a day: six false alarms are what is stated."""
    (count,) = alarms(KINDS[kind].compute_seconds(490, seed=5), [with_rate(1200)])
    assert count <= 6


@pytest.mark.parametrize("kind", ["quiet", "usual", "heavy tail", "busy machine", "8 ranks"])
def test_a_rank_at_half_speed_is_named_after_few_slots(kind: str) -> None:
    assert 5 <= slots_to_name(KINDS[kind], 2.0, seed=1) <= 8


def test_strong_evidence_decides_faster_than_weak() -> None:
    slots = [slots_to_name(Healthy(noise=0.06), ratio, seed=2) for ratio in (1.25, 1.35, 1.6)]
    assert slots == sorted(slots, reverse=True)
    assert slots[0] > slots[-1]


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
def test_days_without_a_fault_have_no_verdict(kind: str) -> None:
    """Six hours of each kind, 66 in all; at higher stated rates alarms come no more than stated."""
    hours, rates = 6, (300.0, 30.0, 0.01)
    work = KINDS[kind].compute_seconds(3600 * hours, seed=11)
    counts = alarms(work, [with_rate(rate) for rate in rates])
    for rate, count in zip(rates, counts, strict=True):
        logging.info("%s: %g a job-day measured, %g stated", kind, count * 24 / hours, rate)
    assert counts[-1] == 0
    assert counts[0] <= rates[0] * hours / 24
    assert counts[1] <= rates[1] * hours / 24 + 5  # three standard deviations of a count of 7
