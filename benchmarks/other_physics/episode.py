"""One episode: a job, what befalls it, and what its exporters tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from benchmarks.other_physics.card_metrics import card_metrics
from benchmarks.other_physics.exporters import Scrape, Scraped, apply_marks, scrape
from benchmarks.other_physics.faults import (
    GROUP,
    Fault,
    Timing,
    draw_fault,
    draw_kind,
)
from benchmarks.other_physics.host_metrics import host_metrics
from benchmarks.other_physics.influences import (
    Conditions,
    Course,
    Happening,
    Influence,
    Mark,
    Mode,
)
from benchmarks.other_physics.job import Floats, Job, draw_job
from benchmarks.other_physics.machines import draw_machines
from benchmarks.other_physics.nuisances import Nuisances, draw_nuisances, happenings, saving
from benchmarks.other_physics.rank_metrics import rank_metrics
from benchmarks.other_physics.sketch import GPU_ROWS, NODE_ROWS, RANK_ROWS
from benchmarks.other_physics.steps import Halt, PauseKind, Played, Stage
from benchmarks.other_physics.visibility import Visibility, visibility

_EARLIEST_ONSET_SECONDS = 300.0
_DRAWS = 8
_VISIBLE_SPREADS = 8.0
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
class Episode:
    """All that a recording holds, and the truth about it. Seconds are since `start`."""

    kind: EpisodeKind
    job: Job
    start: float
    cadence: int
    faults: tuple[Fault, ...]
    nuisances: Nuisances
    happenings: tuple[Happening, ...]
    entities: Mapping[str, Scraped]
    """`node`, `gpu`, and `rank` where the job tells of itself."""
    seen: tuple[Visibility, ...]
    """Of each fault."""
    renamed: Mapping[int, float]
    has_roles: bool
    has_ranks: bool


def make_episode(kind: EpisodeKind, seed: int, largest: int = 128) -> Episode:
    """The episode of this kind and seed: the first draw whose faults can all be seen.

    After so many draws the last one is taken as it is; the truth says how well it is seen.
    """
    for draw in range(_DRAWS):
        episode = _draw_episode(kind, [seed, list(EpisodeKind).index(kind), draw], largest)
        if all(one.spreads >= _VISIBLE_SPREADS for one in episode.seen):
            break
    return episode


def _draw_episode(kind: EpisodeKind, seeds: list[int], largest: int) -> Episode:
    dice = np.random.default_rng(seeds)
    job = _job(kind, dice, largest)
    seconds = int(dice.integers(12 * 60, 20 * 60))
    faults = _faults(kind, dice, job, seconds)
    nuisances = draw_nuisances(dice, job, seconds, is_healthy=not faults)
    influence = _together(faults, nuisances)
    machines = draw_machines(dice, job)
    stage = Stage(job, machines, influence.pushes, dice, seconds)
    halt = _halt(dice, faults, seconds)
    if halt is not None:
        influence.marks += _freed(job, halt)
    played = stage.play(nuisances.pauses, halt)
    influence.marks += saving(nuisances, played.paused)
    conditions = Conditions(influence.pushes, job.ranks)
    truth = {
        "node": host_metrics(job, machines, played.totals, dice),
        "gpu": card_metrics(job, machines, played.totals, conditions, dice),
    }
    start = _FIRST_START + float(dice.integers(0, int(_YEAR_SECONDS)))
    if dice.random() < 0.5:
        truth["rank"] = rank_metrics(job, played.log, seconds, start, dice)
    how = _scrape(kind, dice, job.nodes)
    entities = _scraped(truth, influence, how, job, dice)
    return Episode(
        kind=kind,
        job=job,
        start=start,
        cadence=how.cadence,
        faults=faults,
        nuisances=nuisances,
        happenings=tuple(influence.happenings + happenings(nuisances, played.paused)),
        entities=entities,
        seen=tuple(visibility(job, fault, entities, how.cadence) for fault in faults),
        renamed=_renamed(nuisances, played),
        has_roles=bool(dice.random() < 0.8),
        has_ranks=bool(dice.random() < 0.6),
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
    onset = float(dice.uniform(_EARLIEST_ONSET_SECONDS, seconds - 240.0))
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


def _together(faults: tuple[Fault, ...], nuisances: Nuisances) -> Influence:
    causes = [nuisances.influence, *(fault.influence for fault in faults)]
    return Influence(
        [push for cause in causes for push in cause.pushes],
        [mark for cause in causes for mark in cause.marks],
        [told for cause in causes for told in cause.happenings],
    )


def _halt(dice: np.random.Generator, faults: tuple[Fault, ...], seconds: int) -> Halt | None:
    halting = [fault for fault in faults if fault.halted_at is not None]
    if not halting or halting[0].halted_at is None:
        return None
    at = halting[0].halted_at
    patience = float(dice.choice([5.0, 120.0, 600.0], p=[0.2, 0.3, 0.5]) * dice.uniform(0.7, 1.3))
    return Halt(at, min(at + patience, float(seconds)), halting[0].stopped)


def _freed(job: Job, halt: Halt) -> list[Mark]:
    """When the processes have left, their memory is free and they tell nothing."""
    course, everybody = Course(halt.released, np.inf), np.arange(job.ranks)
    return [
        Mark("gpu_memory_used_bytes", everybody, Mode.SCALE, 0.02, course),
        Mark(RANK_ROWS, everybody, Mode.ABSENT, 0.0, course),
    ]


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


def _scraped(
    truth: dict[str, dict[str, Floats]],
    influence: Influence,
    how: Scrape,
    job: Job,
    dice: np.random.Generator,
) -> dict[str, Scraped]:
    rows = {"node": NODE_ROWS, "gpu": GPU_ROWS, "rank": RANK_ROWS}
    found = {}
    for entity, metrics in truth.items():
        present = apply_marks(metrics, influence.marks, rows[entity], dice)
        per_node = 1 if entity == "node" else job.gpus
        found[entity] = scrape(metrics, present, how, per_node, dice)
    return found


def _renamed(nuisances: Nuisances, played: Played) -> dict[int, float]:
    """Machines are exchanged in the middle of the pause that the job makes for it."""
    pauses = [(begin + end) / 2 for begin, end, kind in played.paused if kind is PauseKind.RESIZE]
    return dict.fromkeys(nuisances.renamed, pauses[0]) if pauses else {}
