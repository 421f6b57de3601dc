"""What a GPU's counters say in each second, from what the rank did in it."""

from __future__ import annotations

import numpy as np
from benchmarks.other_physics.influences import Conditions, Knob
from benchmarks.other_physics.job import Floats, Job
from benchmarks.other_physics.machines import Machines, Warmth, throttled
from benchmarks.other_physics.noise import factor, lingering
from benchmarks.other_physics.seconds import Doing

_SPINNING_SHARE = 0.12
"""Of the multiprocessors, that a collective's kernel holds while it waits."""
_SPINNING_POWER = 0.2
_COMPUTING_POWER = 0.95
_OVER_THE_BUS = 0.02
"""Small copies that never stop, as share of the bus."""


def card_metrics(
    job: Job,
    machines: Machines,
    totals: Floats,
    conditions: Conditions,
    dice: np.random.Generator,
) -> dict[str, Floats]:
    """Per metric, seconds × ranks, before marks and before exporters round."""
    shape = (totals.shape[1], job.ranks)
    busy = _busy(job, totals)
    activity = _activity(job, totals, busy, dice)
    physical = _warm(job, machines, totals, busy, conditions, dice)
    activity["gpu_tensor_active_ratio"] /= physical.pop("pace")
    return {**activity, **physical, **_bytes(job, totals, dice), **_quiet(shape)}


def _busy(job: Job, totals: Floats) -> Floats:
    """Seconds in collectives, those in which a GPU spins included."""
    spinning = totals[Doing.WAIT] * (1.0 if job.spins else 0.04)
    return np.asarray(spinning + totals[Doing.SHARE] + totals[Doing.REDUCE])


def _activity(
    job: Job, totals: Floats, busy: Floats, dice: np.random.Generator
) -> dict[str, Floats]:
    compute, optimize = totals[Doing.COMPUTE], totals[Doing.OPTIMIZE]
    work = totals[Doing.WORK]
    kernels = np.clip(compute + optimize + busy + 0.05 * totals[Doing.LOAD], 0.0, 1.0)
    occupied = 0.88 * compute + 0.8 * optimize + _SPINNING_SHARE * busy
    moved = 0.6 * job.intensity * work + 0.7 * optimize + 0.1 * busy
    shape = compute.shape

    def noisy(values: Floats) -> Floats:
        return np.clip(values * factor(dice, shape, 0.008, 0.008), 0.0, 1.0)

    return {
        "gpu_utilization_ratio": np.clip(kernels * factor(dice, shape, 0.006), 0.0, 1.0),
        "gpu_graphics_active_ratio": noisy(0.985 * kernels),
        "gpu_sm_active_ratio": noisy(occupied),
        "gpu_tensor_active_ratio": noisy(job.intensity * work),
        "gpu_dram_active_ratio": noisy(moved),
        "gpu_fp16_active_ratio": noisy(0.06 * work),
        "gpu_fp32_active_ratio": noisy(
            0.05 * work + 0.8 * totals[Doing.FELL_BACK] + 0.3 * optimize
        ),
    }


def _warm(
    job: Job,
    machines: Machines,
    totals: Floats,
    busy: Floats,
    conditions: Conditions,
    dice: np.random.Generator,
) -> dict[str, Floats]:
    """Power, temperature and clock: each depends on the others."""
    seconds, card = totals.shape[1], job.card
    times = np.arange(seconds, dtype=np.float64) + 0.5
    heat, held = conditions.over(Knob.HEAT, times), conditions.over(Knob.CLOCK, times)
    range_watts = card.limit_watts - card.idle_watts
    load = (
        _COMPUTING_POWER * (0.35 * totals[Doing.COMPUTE] + 0.65 * totals[Doing.WORK])
        + 0.55 * totals[Doing.OPTIMIZE]
        + _SPINNING_POWER * busy
        + 0.03 * totals[Doing.LOAD]
    )
    load = load * np.exp(lingering(dice, seconds, job.ranks, 0.012, 8.0)) * machines.power
    watts, celsius, pace = (np.empty_like(load) for _ in range(3))
    warmth = Warmth(machines, job.gpus, card.idle_watts + range_watts * load[:30].mean(axis=0))
    throttle = throttled(warmth.celsius)
    for second in range(seconds):
        pace[second] = throttle * held[second]
        drawn = card.idle_watts + range_watts * load[second] * pace[second] ** 1.3
        watts[second] = np.minimum(drawn, card.limit_watts * 1.02)
        celsius[second] = warmth.pass_time(1.0, watts[second], heat[second])
        throttle = throttled(celsius[second])
    capped = 1.0 - 0.07 * (watts / card.limit_watts) ** 2
    clock = card.clock_hertz * pace * machines.boost * capped
    return {
        "gpu_power_watts": watts * factor(dice, watts.shape, 0.008),
        "gpu_temperature_celsius": celsius + lingering(dice, seconds, job.ranks, 0.3, 10.0),
        "gpu_memory_temperature_celsius": celsius + 6.0 + 8.0 * totals[Doing.WORK].mean(),
        "gpu_sm_clock_hertz": clock * factor(dice, watts.shape, 0.002),
        "pace": pace,
    }


def _bytes(job: Job, totals: Floats, dice: np.random.Generator) -> dict[str, Floats]:
    card, shape = job.card, totals.shape[1:]
    within = card.nvlink_bytes_per_second * 0.6 * totals[Doing.SHARED]
    if job.gpus > 1:
        within = within + 0.35 * card.nvlink_bytes_per_second * totals[Doing.REDUCED]
    bus = card.pcie_bytes_per_second
    through = 0.8 * card.nic_bytes_per_second * totals[Doing.REDUCED] + _OVER_THE_BUS * bus * (
        totals[Doing.COMPUTE] + totals[Doing.LOAD]
    )
    copied = 0.85 * bus * totals[Doing.COPIED]
    rates = {
        "gpu_pcie_tx_bytes_per_second": through + 0.1 * copied,
        "gpu_pcie_rx_bytes_per_second": through + copied,
    }
    if card.nvlink_bytes_per_second > 0.0 and job.gpus > 1:
        rates["gpu_nvlink_tx_bytes_per_second"] = within
        rates["gpu_nvlink_rx_bytes_per_second"] = within
    return {name: rate * factor(dice, shape, 0.02, 0.01) for name, rate in rates.items()} | {
        "gpu_memory_used_bytes": _memory(job, totals, dice)
    }


def _memory(job: Job, totals: Floats, dice: np.random.Generator) -> Floats:
    """Nearly still: the allocator keeps what it has. Stages and ranks differ a little."""
    share = np.repeat([0.7 + 0.18 * work for work in job.stage_work], job.ranks // job.stages)
    still = job.card.memory_bytes * share * (1.0 + dice.normal(0.0, 0.004, job.ranks))
    return still * (1.0 + lingering(dice, totals.shape[1], job.ranks, 0.0008, 60.0))


def _quiet(shape: tuple[int, int]) -> dict[str, Floats]:
    """Counters that say nothing unless something is wrong."""
    names = (
        "gpu_pcie_replays_per_second",
        "gpu_ecc_uncorrectable_total",
        "gpu_ecc_correctable_total",
        "gpu_row_remap_pending",
        "gpu_nvlink_errors_per_second",
        "gpu_throttle_reasons",
        "gpu_xid",
    )
    return {name: np.zeros(shape) for name in names}
