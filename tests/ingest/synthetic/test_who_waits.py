"""Whoever is slow makes everybody wait, and waiting looks as it does on real GPUs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from ingest.synthetic.clusters import (
    WARM,
    configured,
    gpu_mean,
    never_pausing,
    node_mean,
    past,
    pressed,
    rank_mean,
)
from paramedic.ingest.contract import NodeName
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.faults.plan import FaultPlan

pytestmark = pytest.mark.long


SLOW = (1, 2)
BEFORE, AFTER = WARM - 8, WARM + 2


@cache
def with_tensor_loss() -> SyntheticCluster:
    fault = FaultPlan("tensor_loss", NodeName("node-0002"), 2, onset=WARM, strength=0.5)
    return SyntheticCluster(configured(work=never_pausing(), faults=(fault,)))


@cache
def with_a_stopped_gpu() -> SyntheticCluster:
    def stop(causes: Causes) -> None:
        causes.work_slowdown[SLOW] = np.inf

    return pressed(stop, configured(work=never_pausing()))


def others(values: np.ndarray) -> np.ndarray:
    mask = np.ones(values.shape, dtype=bool)
    mask[SLOW] = False
    return values[mask]


def test_a_waiting_gpu_is_utilised_and_neither_computes_nor_draws_power() -> None:
    cluster = with_a_stopped_gpu()
    seconds = WARM + 3
    assert others(gpu_mean(cluster, "gpu_utilization_ratio", seconds)).min() > 0.98
    assert others(gpu_mean(cluster, "gpu_tensor_active_ratio", seconds)).max() == 0.0
    waiting = others(gpu_mean(cluster, "gpu_power_watts", seconds))
    training = others(gpu_mean(cluster, "gpu_power_watts", BEFORE))
    assert waiting.max() < 0.4 * training.min()


def test_no_step_ends_while_one_gpu_stands_still_and_hearts_go_on_beating() -> None:
    rows = [second.rank for second in past(with_a_stopped_gpu())[WARM + 2 : WARM + 10]]
    assert {row["step"][0, 0] for row in rows} == {rows[0]["step"][0, 0]}
    assert all("step_seconds" not in row for row in rows)
    beats = [row["heartbeat"][0, 0] for row in rows]
    assert np.diff(beats).tolist() == [1.0] * 7


def test_the_job_goes_at_the_pace_of_the_gpu_that_lost_tensor_activity() -> None:
    cluster = with_tensor_loss()
    before = rank_mean(cluster, "step_seconds", BEFORE)
    after = rank_mean(cluster, "step_seconds", AFTER)
    assert np.ptp(after) == 0.0
    assert 1.25 < after[0, 0] / before[0, 0] < 1.6


def test_the_gpu_that_lost_tensor_activity_shows_half_of_what_its_peers_show() -> None:
    cluster = with_tensor_loss()
    tensor = gpu_mean(cluster, "gpu_tensor_active_ratio", AFTER, 10)
    assert tensor[SLOW] / np.median(others(tensor)) == pytest.approx(0.5, abs=0.03)
    before = gpu_mean(cluster, "gpu_tensor_active_ratio", BEFORE)
    assert before[SLOW] == pytest.approx(np.median(before), rel=0.03)


def test_the_slow_gpu_does_not_wait_and_everybody_else_does() -> None:
    waits = rank_mean(with_tensor_loss(), "collective_seconds", AFTER)
    computes = rank_mean(with_tensor_loss(), "compute_seconds", AFTER)
    assert waits[SLOW] < 0.6 * others(waits).min()
    assert computes[SLOW] > 1.3 * others(computes).max()
    active = gpu_mean(with_tensor_loss(), "gpu_sm_active_ratio", AFTER)
    assert active[SLOW] > 1.1 * others(active).max()


def test_its_own_replica_waits_all_through_the_step_and_the_others_at_its_end() -> None:
    arriving = rank_mean(with_tensor_loss(), "collective_p99_seconds", AFTER)
    assert arriving[0].min() > 0.3
    assert arriving[1].max() < 0.1


def test_the_work_that_left_the_tensor_cores_is_seen_on_other_pipes() -> None:
    halves = gpu_mean(with_tensor_loss(), "gpu_fp16_active_ratio", AFTER)
    assert halves[SLOW] > 5 * others(halves).max()


def test_a_slow_clock_does_not_show_in_tensor_activity_but_in_who_waits() -> None:
    """A synchronous job does the same matrix work everywhere, so its averages are the same."""

    def cap(causes: Causes) -> None:
        causes.clock_limit_ratio[SLOW] = 0.6

    cluster = pressed(cap, configured(work=never_pausing()))
    clocks = gpu_mean(cluster, "gpu_sm_clock_hertz", AFTER, 10)
    assert clocks[SLOW] == pytest.approx(0.6 * 1.98e9, rel=0.02)
    assert others(clocks).min() > 1.9e9
    waits = rank_mean(cluster, "collective_seconds", AFTER, 10)
    assert waits[SLOW] == waits.min()
    cycles = gpu_mean(cluster, "gpu_tensor_active_ratio", AFTER, 10) * clocks
    assert cycles[SLOW] == pytest.approx(np.median(cycles), rel=0.08)


def test_a_narrow_slot_makes_the_collective_slow_for_all_and_its_node_asks_for_pauses() -> None:
    def narrow(causes: Causes) -> None:
        causes.pcie_ratio[SLOW] = 0.2

    cluster = pressed(narrow, configured(work=never_pausing()))
    before = rank_mean(cluster, "collective_seconds", BEFORE)
    after = rank_mean(cluster, "collective_seconds", AFTER)
    assert (after > 1.5 * before).all()
    pauses = node_mean(cluster, "pfc_tx_packets_per_second", AFTER)
    assert pauses[1] > 1000
    assert pauses[[0, 2, 3]].max() == 0


def test_a_congested_fabric_marks_packets_behind_its_switch_only() -> None:
    def crowd(causes: Causes) -> None:
        causes.fabric_ratio[:2] = 0.5

    cluster = pressed(crowd, configured(work=never_pausing()))
    marked = node_mean(cluster, "ecn_packets_per_second", AFTER)
    assert marked[:2].min() > 20 * marked[2:].max()
    steps = rank_mean(cluster, "step_seconds", AFTER) / rank_mean(cluster, "step_seconds", BEFORE)
    assert (steps > 1.05).all()


def test_a_node_whose_data_comes_late_is_the_only_one_that_loads_long() -> None:
    def stall(causes: Causes) -> None:
        causes.loading_seconds[3] = 0.8

    cluster = pressed(stall, configured(work=never_pausing()))
    loading = rank_mean(cluster, "dataloader_seconds", AFTER)
    assert loading[3].min() > 0.8
    assert loading[:3].max() < 0.05
    assert rank_mean(cluster, "step_seconds", AFTER)[0, 0] > 1.5


def test_a_busy_host_slows_its_gpus_a_little_and_everybody_with_them() -> None:
    def steal(causes: Causes) -> None:
        causes.stolen_cpu_ratio[0] = 0.6

    cluster = pressed(steal, configured(work=never_pausing()))
    cpu = node_mean(cluster, "cpu_utilization_ratio", AFTER)
    assert cpu[0] > cpu[1:].max() + 0.4
    computes = rank_mean(cluster, "compute_seconds", AFTER)
    assert computes[0].min() > 1.15 * computes[1:].max()


@pytest.mark.parametrize(("stages", "experts"), [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_one_slow_gpu_slows_the_job_in_every_layout(stages: int, experts: int) -> None:
    def slow(causes: Causes) -> None:
        causes.work_slowdown[SLOW] = 2.0

    cluster = pressed(slow, configured(stages=stages, experts=experts, work=never_pausing()))
    longer = rank_mean(cluster, "step_seconds", AFTER) / rank_mean(cluster, "step_seconds", BEFORE)
    assert (longer > 1.35).all()
    assert np.ptp(longer) == pytest.approx(0.0, abs=1e-9)


def test_pipelines_wait_more_than_plain_data_parallelism_even_when_all_are_well() -> None:
    waits = [
        rank_mean(SyntheticCluster(configured(stages=n)), "collective_seconds", BEFORE).mean()
        for n in (1, 2)
    ]
    assert waits[1] > waits[0]


def test_the_last_stage_has_more_to_do() -> None:
    computes = rank_mean(SyntheticCluster(configured(stages=2)), "compute_seconds", BEFORE)
    assert computes[2:].mean() > 1.01 * computes[:2].mean()
