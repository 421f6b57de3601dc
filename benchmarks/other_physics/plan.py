"""What is to happen in an episode: drawn before anything is played."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from benchmarks.other_physics.exporters import Scrape
from benchmarks.other_physics.faults import GROUP, Fault, Timing, draw_fault, draw_kind
from benchmarks.other_physics.job import Job, draw_job
from benchmarks.other_physics.nuisances import Nuisances, draw_nuisances
from benchmarks.other_physics.steps import Halt

_EARLIEST_ONSET_SECONDS = 300.0
_LEFT_SECONDS = 240.0
"""Between the last possible onset and the end."""
_FIRST_START = 1_750_000_000.0
_YEAR_SECONDS = 31_000_000.0


class EpisodeKind(StrEnum):
    """What an episode is meant to show."""

    SINGLE = "single"
    SEVERAL = "several"
    """Two to four faults at once."""
    GROUP = "group"
    """A switch."""
    HEALTHY = "healthy"
    SMALL = "small"
    """A single fault among four to eight machines."""
    CADENCE5 = "cadence5"
    CADENCE15 = "cadence15"
    CADENCE30 = "cadence30"
    FAILSTOP = "failstop"


_CADENCES = {EpisodeKind.CADENCE5: 5, EpisodeKind.CADENCE15: 15, EpisodeKind.CADENCE30: 30}
_BASIC = (
    "gpu_sm_active_ratio", "gpu_tensor_active_ratio", "gpu_dram_active_ratio",
    "gpu_fp16_active_ratio", "gpu_fp32_active_ratio", "gpu_graphics_active_ratio",
    "gpu_pcie_replays_per_second", "gpu_ecc_uncorrectable_total", "gpu_ecc_correctable_total",
    "gpu_row_remap_pending", "gpu_nvlink_errors_per_second", "gpu_throttle_reasons",
)  # fmt: skip
"""What a plain exporter does not tell."""


@dataclass(frozen=True, slots=True)
class Plan:
    """An episode that has not been played yet. Times are seconds since `start`."""

    kind: EpisodeKind
    job: Job
    start: float
    seconds: int
    faults: tuple[Fault, ...]
    nuisances: Nuisances
    halt: Halt | None
    scrape: Scrape
    has_telemetry_of_ranks: bool
    has_roles: bool
    lists_ranks: bool


def draw_plan(kind: EpisodeKind, dice: np.random.Generator, largest: int) -> Plan:
    """Some episode of this kind, of at most so many nodes."""
    job = _job(kind, dice, largest)
    seconds = int(dice.integers(12 * 60, 20 * 60))
    faults = _faults(kind, dice, job, seconds)
    return Plan(
        kind=kind,
        job=job,
        start=_FIRST_START + float(dice.integers(0, int(_YEAR_SECONDS))),
        seconds=seconds,
        faults=faults,
        nuisances=draw_nuisances(dice, job, seconds, is_healthy=not faults),
        halt=_halt(dice, faults, seconds),
        scrape=_scrape(kind, dice, job.nodes),
        has_telemetry_of_ranks=bool(dice.random() < 0.5),
        has_roles=bool(dice.random() < 0.8),
        lists_ranks=bool(dice.random() < 0.6),
    )


def _job(kind: EpisodeKind, dice: np.random.Generator, largest: int) -> Job:
    if kind is EpisodeKind.SMALL:
        return draw_job(dice, 4, 8)
    if kind in (EpisodeKind.GROUP, EpisodeKind.SEVERAL):
        return draw_job(dice, 12, max(largest, 12))
    return draw_job(dice, 2, largest)


def _faults(
    kind: EpisodeKind, dice: np.random.Generator, job: Job, seconds: int
) -> tuple[Fault, ...]:
    onset = float(dice.uniform(_EARLIEST_ONSET_SECONDS, seconds - _LEFT_SECONDS))
    if kind is EpisodeKind.HEALTHY:
        return ()
    if kind is EpisodeKind.GROUP:
        switch = job.switch_of(
            int(dice.integers(job.nodes // job.nodes_a_switch * job.nodes_a_switch))
        )
        nodes = [node for node in range(job.nodes) if job.switch_of(node) == switch]
        return (draw_fault(dice, job, nodes, Timing(onset, seconds), GROUP),)
    if kind is EpisodeKind.SEVERAL:
        return _several(dice, job, Timing(onset, seconds, may_halt=False))
    node = int(dice.integers(job.nodes))
    halting = True if kind is EpisodeKind.FAILSTOP else None
    timing = Timing(onset, seconds, must_halt=bool(halting))
    return (draw_fault(dice, job, [node], timing, draw_kind(dice, job, halting)),)


def _several(dice: np.random.Generator, job: Job, timing: Timing) -> tuple[Fault, ...]:
    """Alike or not, on machines of their own, from nearly the same moment."""
    nodes = dice.choice(job.nodes, int(dice.integers(2, 5)), replace=False)
    alike = draw_kind(dice, job, halting=False) if dice.random() < 0.5 else None
    faults = []
    for node in nodes:
        kind = alike or draw_kind(dice, job, halting=False)
        onset = timing.onset + float(dice.uniform(0.0, 20.0))
        own = Timing(onset, timing.seconds, may_halt=False)
        faults.append(draw_fault(dice, job, [int(node)], own, kind))
    return tuple(faults)


def _halt(dice: np.random.Generator, faults: tuple[Fault, ...], seconds: int) -> Halt | None:
    halting = [fault for fault in faults if fault.halted_at is not None]
    if not halting or halting[0].halted_at is None:
        return None
    at = halting[0].halted_at
    patience = float(dice.choice([5.0, 120.0, 600.0], p=[0.2, 0.3, 0.5]) * dice.uniform(0.7, 1.3))
    return Halt(at, min(at + patience, float(seconds)), halting[0].stopped)


def _scrape(kind: EpisodeKind, dice: np.random.Generator, nodes: int) -> Scrape:
    cadence = _CADENCES.get(kind, 1)
    stale = {"gpu_memory_temperature_celsius": 5, "gpu_ecc_correctable_total": 5}
    if dice.random() < 0.3:
        stale |= {"gpu_power_watts": 2, "gpu_temperature_celsius": 2, "gpu_utilization_ratio": 2}
    if dice.random() < 0.3:
        stale |= {"disk_read_latency_seconds": 5, "disk_write_latency_seconds": 5}
    left_out = set(_BASIC) if dice.random() < 0.3 else set()
    if dice.random() < 0.3:
        left_out |= {
            "gpu_fp16_active_ratio",
            "gpu_fp32_active_ratio",
            "gpu_memory_temperature_celsius",
        }
    return Scrape(
        cadence=cadence,
        phases=dice.integers(0, cadence, nodes),
        null_share=float(dice.choice([0.0, 0.001, 0.01])),
        lost_row_share=float(dice.choice([0.0, 0.0005, 0.005])),
        stale=stale if cadence == 1 else {},
        left_out=frozenset(left_out),
    )
