"""How causes become durations, and activity becomes power, clock and heat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.synthetic.clusters import configured
from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.individuals import draw_individuals
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.living import Shares
from paramedic.ingest.synthetic.pace import FALLBACK_SLOWNESS, Pace, pace_of, tensor_factor
from paramedic.ingest.synthetic.randomness import Dice
from paramedic.ingest.synthetic.silicon import (
    IDLE,
    Activity,
    Condition,
    Warmth,
    activity_of,
    resting,
    warmth_of,
)
from paramedic.ingest.synthetic.traffic import Traffic, traffic_of

CONFIG = configured(nodes=2, gpus=2)
SHAPE = (2, 2)
INDIVIDUALS = draw_individuals(CONFIG, Layout(CONFIG.shape, Dice(0)), Dice(0))
FULL_CLOCK = np.ones(SHAPE)


def pace(causes: Causes, clock: Floats = FULL_CLOCK) -> Pace:
    return pace_of(CONFIG, INDIVIDUALS, clock, causes)


def spent(**parts: float) -> Shares:
    shares = Shares.none(SHAPE)
    for name, value in parts.items():
        getattr(shares, name)[...] = value
    return shares


def activity(shares: Shares, causes: Causes | None = None, clock: float = 1.0) -> Activity:
    condition = Condition(np.full(SHAPE, clock), np.full(SHAPE, 60.0), np.full(SHAPE, 70.0))
    return activity_of(shares, causes or Causes.neutral(*SHAPE), condition, INDIVIDUALS.work)


def warmth(shares: Shares, before: Condition, causes: Causes | None = None) -> Warmth:
    causes = causes or Causes.neutral(*SHAPE)
    active = activity_of(shares, causes, before, INDIVIDUALS.work)
    return warmth_of(CONFIG, INDIVIDUALS, causes, active, shares, before)


def busy_second() -> Shares:
    """A second of nothing but a GPU's own work at the full clock."""
    shares = spent(busy=1.0)
    shares.work[...] = 1.0 / INDIVIDUALS.work
    return shares


def test_healthy_machines_go_at_the_configured_pace() -> None:
    healthy = pace(Causes.neutral(*SHAPE))
    assert healthy.own_seconds == pytest.approx(
        np.full(SHAPE, CONFIG.work.compute_seconds), rel=0.02
    )
    assert healthy.loading_seconds == pytest.approx(np.full(SHAPE, 0.02))
    transfer = CONFIG.work.gradient_bytes / CONFIG.hardware.nic_bytes_per_second
    assert healthy.collective_seconds == pytest.approx(transfer + 0.004 * 24, rel=0.03)
    assert (healthy.bubble, healthy.pause_slowdown) == (1.0, 1.0)


@given(ratio=st.floats(0.2, 1.0))
def test_a_slower_clock_costs_nearly_as_much_time(ratio: float) -> None:
    slow = pace(Causes.neutral(*SHAPE), np.full(SHAPE, ratio)).own_seconds
    healthy = pace(Causes.neutral(*SHAPE)).own_seconds
    assert (slow >= healthy).all()
    assert slow == pytest.approx(healthy / ratio**0.9)


@pytest.mark.parametrize("cause", ["nic_ratio", "fabric_ratio", "pcie_ratio", "nvlink_ratio"])
def test_the_narrowest_link_of_anybody_sets_the_collective_s_pace(cause: str) -> None:
    causes = Causes.neutral(*SHAPE)
    getattr(causes, cause)[1] = 0.01
    slow = pace(causes)
    assert slow.collective_seconds > 1.5 * pace(Causes.neutral(*SHAPE)).collective_seconds
    assert slow.bandwidth[1].max() < slow.bandwidth[0].min()


@given(share=st.floats(0.0, 1.0))
def test_work_off_the_tensor_cores_takes_longer(share: float) -> None:
    causes = Causes.neutral(*SHAPE)
    causes.tensor_share[0, 0] = share
    factor = tensor_factor(causes)[0, 0]
    assert 1.0 <= factor <= FALLBACK_SLOWNESS
    healthy = pace(Causes.neutral(*SHAPE)).own_seconds
    assert (pace(causes).own_seconds / healthy)[0, 0] == pytest.approx(factor)


def test_units_are_active_as_the_second_was_spent() -> None:
    computing = activity(busy_second())
    assert computing.tensor == pytest.approx(np.full(SHAPE, 0.46))
    assert computing.utilization.min() == 1.0
    waiting = activity(spent(spinning=1.0))
    assert (waiting.utilization.min(), waiting.tensor.max()) == (1.0, 0.0)
    assert waiting.sm.max() < 0.2
    pausing = activity(spent(idle=1.0))
    assert (pausing.utilization.max(), pausing.sm.max(), pausing.dram.max()) == (0.0, 0.0, 0.0)
    assert activity(spent(optimizer=1.0)).dram.min() > 0.7


def test_the_same_matrix_work_at_half_the_clock_is_twice_as_active_for_as_long() -> None:
    fast, slow = activity(busy_second()), activity(busy_second(), clock=0.5)
    assert slow.tensor == pytest.approx(2 * fast.tensor)
    assert slow.dram == pytest.approx(fast.dram)


@given(
    parts=st.lists(st.floats(0.0, 1.0), min_size=7, max_size=7),
    share=st.floats(0.0, 1.0),
    clock=st.floats(0.2, 1.0),
)
def test_no_unit_is_ever_active_for_more_than_the_second(
    parts: list[float], share: float, clock: float
) -> None:
    names = ("loading", "busy", "spinning", "collective", "optimizer", "evaluating", "saving")
    whole = sum(parts) or 1.0
    shares = spent(**{name: part / whole for name, part in zip(names, parts, strict=True)})
    shares.work[...] = shares.busy / INDIVIDUALS.work
    causes = Causes.neutral(*SHAPE)
    causes.tensor_share[...] = share
    active = activity(shares, causes, clock)
    for name in Activity.__slots__:
        values = getattr(active, name)
        assert values.min() >= 0.0, name
        assert values.max() <= 1.0, name


def test_computing_draws_most_waiting_little_and_resting_least() -> None:
    before = resting(CONFIG, INDIVIDUALS)
    watts = [
        warmth(shares, before).watts.mean()
        for shares in (busy_second(), spent(collective=1.0), spent(spinning=1.0), spent(idle=1.0))
    ]
    assert watts == sorted(watts, reverse=True)
    assert 550 < watts[0] < 700
    assert watts[2] < 0.4 * watts[0]
    assert watts[3] == pytest.approx(72.0, rel=0.1)


def test_a_card_that_rests_says_so() -> None:
    before = resting(CONFIG, INDIVIDUALS)
    assert (warmth(spent(idle=1.0), before).limits.astype(int) & IDLE).all()
    assert not (warmth(spent(spinning=1.0), before).limits.astype(int) & IDLE).any()


@given(celsius=st.floats(30.0, 110.0), clock=st.floats(0.2, 1.0), cap=st.floats(0.1, 1.0))
def test_the_clock_stays_within_its_limits(celsius: float, clock: float, cap: float) -> None:
    causes = Causes.neutral(*SHAPE)
    causes.clock_limit_ratio[...] = cap
    before = Condition(np.full(SHAPE, clock), np.full(SHAPE, celsius), np.full(SHAPE, celsius))
    after = warmth(busy_second(), before, causes).condition.clock_ratio
    assert after.min() >= min(clock, 0.2) - 1e-12
    assert after.max() <= max(clock, cap, 0.2) + 1e-12


def test_temperature_goes_towards_its_end_without_passing_it() -> None:
    now, celsius = resting(CONFIG, INDIVIDUALS), []
    for _second in range(120):
        now = warmth(busy_second(), now).condition
        celsius.append(now.gpu_celsius)
    path = np.array(celsius)
    assert (np.diff(path, axis=0) > -1e-3).all()
    risen = (path[21] - path[0]) / (path[-1] - path[0])
    assert risen == pytest.approx(np.full(SHAPE, 1 - np.exp(-1)), abs=0.03)


def traffic(shares: Shares, causes: Causes | None = None) -> Traffic:
    causes = causes or Causes.neutral(*SHAPE)
    return traffic_of(CONFIG, causes, shares, pace(causes), np.ones(SHAPE))


def test_a_whole_collective_sends_all_gradients_over_network_and_slot() -> None:
    whole = traffic(spent(collective=pace(Causes.neutral(*SHAPE)).collective_seconds))
    gradients = CONFIG.work.gradient_bytes
    assert whole.rdma_tx == pytest.approx(np.full(2, 2 * gradients))
    assert whole.pcie_tx == pytest.approx(np.full(SHAPE, 1.06 * gradients), rel=0.01)
    assert whole.nvlink_tx == pytest.approx(np.full(SHAPE, 0.9 * gradients), rel=0.01)


def test_a_gpu_that_waits_sends_next_to_nothing() -> None:
    quiet = traffic(spent(spinning=1.0))
    assert quiet.rdma_tx.max() == 0.0
    assert max(quiet.nvlink_tx.max(), quiet.pcie_rx.max()) < 1e7


def test_saving_reads_the_gpu_s_memory() -> None:
    assert traffic(spent(saving=1.0)).pcie_tx.min() > 1e9


def test_only_a_job_with_stages_hands_on_activations() -> None:
    staged = replace(CONFIG, shape=replace(CONFIG.shape, pipeline_stages=2))
    causes = Causes.neutral(*SHAPE)
    shares = spent(busy=1.0, work=1.0)
    handed = traffic_of(staged, causes, shares, pace(causes), np.ones(SHAPE)).rdma_tx
    assert handed == pytest.approx(np.full(2, 2 * CONFIG.work.pipeline_bytes))
    assert traffic(shares).rdma_tx.max() == 0.0
