"""One episode: a plan that has been played, and what its exporters tell of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from benchmarks.other_physics.card_metrics import card_metrics
from benchmarks.other_physics.exporters import Scraped, apply_marks, scrape
from benchmarks.other_physics.host_metrics import host_metrics
from benchmarks.other_physics.influences import (
    Conditions,
    Course,
    Happening,
    Influence,
    Mark,
    Mode,
)
from benchmarks.other_physics.job import Floats, Job
from benchmarks.other_physics.machines import Machines, draw_machines
from benchmarks.other_physics.nuisances import Nuisances, happenings, saving
from benchmarks.other_physics.plan import EpisodeKind, Plan, draw_plan
from benchmarks.other_physics.rank_metrics import rank_metrics
from benchmarks.other_physics.sketch import GPU_ROWS, NODE_ROWS, RANK_ROWS
from benchmarks.other_physics.steps import Halt, PauseKind, Played, Stage
from benchmarks.other_physics.visibility import Visibility, visibility

_DRAWS = 8
_VISIBLE_SPREADS = 8.0


@dataclass(frozen=True, slots=True)
class Episode:
    """All that a recording holds, and the truth about it."""

    plan: Plan
    happenings: tuple[Happening, ...]
    entities: Mapping[str, Scraped]
    """`node`, `gpu`, and `rank` where the job tells of itself."""
    seen: tuple[Visibility, ...]
    """Of each fault."""
    renamed: Mapping[int, float]
    """Nodes in whose place another stands from a moment on."""


def make_episode(kind: EpisodeKind, seed: int, largest: int = 128) -> Episode:
    """The episode of this kind and seed: the first draw whose faults can all be seen.

    After so many draws the last one is taken as it is; the truth says how well it is seen.
    """
    for draw in range(_DRAWS):
        dice = np.random.default_rng([seed, list(EpisodeKind).index(kind), draw])
        episode = play(draw_plan(kind, dice, largest), dice)
        if all(one.spreads >= _VISIBLE_SPREADS for one in episode.seen):
            break
    return episode


def play(plan: Plan, dice: np.random.Generator) -> Episode:
    """Let the job run through all that was planned."""
    job, nuisances = plan.job, plan.nuisances
    influence = _together(plan)
    machines = draw_machines(dice, job)
    stage = Stage(job, machines, influence.pushes, dice, plan.seconds)
    played = stage.play(nuisances.pauses, plan.halt)
    influence.marks += saving(nuisances, played.paused)
    truth = _truth(plan, machines, influence, played, dice)
    entities = _scraped(plan, truth, influence, dice)
    cadence = plan.scrape.cadence
    return Episode(
        plan=plan,
        happenings=tuple(influence.happenings + happenings(nuisances, played.paused)),
        entities=entities,
        seen=tuple(visibility(job, fault, entities, cadence) for fault in plan.faults),
        renamed=_renamed(nuisances, played),
    )


def _together(plan: Plan) -> Influence:
    causes = [plan.nuisances.influence, *(fault.influence for fault in plan.faults)]
    freed = [] if plan.halt is None else _freed(plan.job, plan.halt)
    return Influence(
        [push for cause in causes for push in cause.pushes],
        [mark for cause in causes for mark in cause.marks] + freed,
        [told for cause in causes for told in cause.happenings],
    )


def _truth(
    plan: Plan,
    machines: Machines,
    influence: Influence,
    played: Played,
    dice: np.random.Generator,
) -> dict[str, dict[str, Floats]]:
    conditions = Conditions(influence.pushes, plan.job.ranks)
    truth = {
        "node": host_metrics(plan.job, machines, played.totals, dice),
        "gpu": card_metrics(plan.job, machines, played.totals, conditions, dice),
    }
    if plan.has_telemetry_of_ranks and played.log.ended:
        truth["rank"] = rank_metrics(plan.job, played.log, plan.seconds, plan.start, dice)
    return truth


def _freed(job: Job, halt: Halt) -> list[Mark]:
    """When the processes have left, their memory is free and they tell nothing."""
    course, everybody = Course(halt.released, np.inf), np.arange(job.ranks)
    return [
        Mark("gpu_memory_used_bytes", everybody, Mode.SCALE, 0.02, course),
        Mark(RANK_ROWS, everybody, Mode.ABSENT, 0.0, course),
    ]


def _scraped(
    plan: Plan,
    truth: dict[str, dict[str, Floats]],
    influence: Influence,
    dice: np.random.Generator,
) -> dict[str, Scraped]:
    rows = {"node": NODE_ROWS, "gpu": GPU_ROWS, "rank": RANK_ROWS}
    found = {}
    for entity, metrics in truth.items():
        present = apply_marks(metrics, influence.marks, rows[entity], dice)
        per_node = 1 if entity == "node" else plan.job.gpus
        found[entity] = scrape(metrics, present, plan.scrape, per_node, dice)
    return found


def _renamed(nuisances: Nuisances, played: Played) -> dict[int, float]:
    """Machines are exchanged in the middle of the pause that the job makes for it."""
    pauses = [(begin + end) / 2 for begin, end, kind in played.paused if kind is PauseKind.RESIZE]
    return dict.fromkeys(nuisances.renamed, pauses[0]) if pauses else {}
