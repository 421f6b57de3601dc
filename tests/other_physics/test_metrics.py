"""What counters say of what ranks did."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.other_physics.card_metrics import card_metrics
from benchmarks.other_physics.host_metrics import host_metrics
from benchmarks.other_physics.influences import Conditions, Knob, Push
from benchmarks.other_physics.job import Floats
from benchmarks.other_physics.rank_metrics import rank_metrics
from benchmarks.other_physics.steps import Halt

from other_physics.small_jobs import a_job, alike_machines, played, push

JOB = a_job(4, 2)


def cards(*pushes: Push, halt: Halt | None = None, seconds: int = 60) -> dict[str, Floats]:
    """Means over the last half, per rank."""
    run = played(JOB, *pushes, seconds=seconds, halt=halt)
    conditions = Conditions(pushes, JOB.ranks)
    dice = np.random.default_rng(0)
    metrics = card_metrics(JOB, alike_machines(JOB), run.totals, conditions, dice)
    return {name: values[seconds // 2 :].mean(axis=0) for name, values in metrics.items()}


def test_a_busy_card_is_warm_and_within_its_limits() -> None:
    found = cards()
    assert found["gpu_utilization_ratio"].min() > 0.85
    assert found["gpu_tensor_active_ratio"] == pytest.approx(0.32, abs=0.05)
    assert 0.5 * 400 < found["gpu_power_watts"].min() < found["gpu_power_watts"].max() <= 410
    assert 40 < found["gpu_temperature_celsius"].min() < 80
    assert found["gpu_sm_clock_hertz"].max() <= 1.42e9


def test_who_waits_is_busy_but_draws_little_power() -> None:
    found = cards(push(Knob.STALL, 1.0, 3))
    others = np.arange(JOB.ranks) != 3
    assert found["gpu_utilization_ratio"][3] < 0.8
    assert found["gpu_utilization_ratio"][others].min() > 0.9
    calm = cards()["gpu_power_watts"]
    assert found["gpu_power_watts"][others].max() < 0.9 * calm.min()


def test_a_low_clock_shows_in_clock_and_power_and_not_in_the_work_done() -> None:
    found = cards(push(Knob.CLOCK, 0.6, 0))
    assert found["gpu_sm_clock_hertz"][0] < 0.65 * found["gpu_sm_clock_hertz"][1:].min()
    assert found["gpu_power_watts"][0] < found["gpu_power_watts"][1:].min()
    # The same work in fewer cycles: a larger share of them is active.
    assert found["gpu_tensor_active_ratio"][0] > 1.3 * found["gpu_tensor_active_ratio"][1:].max()


def test_work_that_falls_back_moves_from_tensor_cores_to_others() -> None:
    found = cards(push(Knob.TENSOR, 0.5, 2))
    assert found["gpu_tensor_active_ratio"][2] < 0.6 * found["gpu_tensor_active_ratio"][0]
    assert found["gpu_fp32_active_ratio"][2] > 2 * found["gpu_fp32_active_ratio"][0]


def test_heat_shows_as_temperature() -> None:
    found = cards(push(Knob.HEAT, 0.5, 5))
    celsius = found["gpu_temperature_celsius"]
    assert celsius[5] - celsius[0] == pytest.approx(12.0, abs=5.0)


def test_after_a_halt_power_falls_while_waiting_looks_busy() -> None:
    found = cards(halt=Halt(5.0, 60.0, np.array([0, 1])))
    assert found["gpu_utilization_ratio"][0] == 0.0
    assert found["gpu_utilization_ratio"][2:].min() > 0.98
    assert found["gpu_power_watts"][0] == pytest.approx(58.0, rel=0.05)
    assert found["gpu_power_watts"][2:].max() < 170.0


def test_a_host_sends_what_its_ranks_reduce() -> None:
    run = played(JOB, seconds=30)
    metrics = host_metrics(JOB, alike_machines(JOB), run.totals, np.random.default_rng(0))
    sent = metrics["rdma_tx_bytes_per_second"].mean(axis=0)
    # Two GPUs, a fifth of the time, at most of the wire's speed.
    assert sent == pytest.approx(2 * 0.2 * 0.8 * 24e9, rel=0.1)
    assert metrics["cpu_utilization_ratio"].max() <= 1.0


def test_hosts_stand_still_with_the_job() -> None:
    run = played(JOB, seconds=30, halt=Halt(10.0, 30.0, np.array([0])))
    metrics = host_metrics(JOB, alike_machines(JOB), run.totals, np.random.default_rng(0))
    assert metrics["rdma_tx_bytes_per_second"][20:].max() == 0.0


def test_ranks_tell_of_the_last_step_they_have_finished() -> None:
    run = played(JOB, push(Knob.SPEED, 0.5, 1), seconds=30)
    told = rank_metrics(JOB, run.log, 30, 1000.0, np.random.default_rng(0))
    assert np.isnan(told["step_seconds"][0]).all()
    assert (np.diff(told["step"], axis=0) >= 0).all()
    assert told["step"][-1, 0] - told["step"][0, 0] == pytest.approx(len(run.log.ended), abs=2)
    assert np.argmax(told["compute_seconds"][-1]) == 1
    assert np.argmin(told["collective_seconds"][-1]) == 1
    assert np.diff(told["heartbeat"], axis=0) == pytest.approx(1.0)
