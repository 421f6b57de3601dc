"""Episodes of the synthetic cluster."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from paramedic.diagnosis.benchmark.episodes import Drawn, Episode, Facts, Fault, Part
from paramedic.diagnosis.benchmark.shown import metrics_that_show
from paramedic.ingest.synthetic.episodes.drawing import draw_fault_episodes, draw_healthy_episodes
from paramedic.ingest.synthetic.episodes.living import live
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, Split
from paramedic.models.history import JobHistory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paramedic.diagnosis.benchmark.sizes import Size
    from paramedic.ingest.synthetic.episodes.living import LivedEpisode
    from paramedic.ingest.synthetic.episodes.plan import FaultLabel


@dataclass(frozen=True, slots=True)
class SyntheticSource:
    """Draws as much as the size says; everything follows from the seed."""

    size: Size
    seed: int

    def draw(self, part: Part) -> Sequence[Drawn]:
        """Faulty episodes, then healthy ones."""
        split, amount = Split(part.value), self.size.amounts[part]
        plans = (
            *draw_fault_episodes(split, amount.fault_episodes, self.seed),
            *draw_healthy_episodes(split, amount.healthy_hours, self.seed),
        )
        return [Drawn(plan.name, part, plan) for plan in plans]

    def drawn(self) -> Mapping[str, object]:
        """What tells this draw from others: size, seed, and a digest of all plans."""
        plans = repr([one.plan for part in Part for one in self.draw(part)])
        digest = hashlib.sha256(plans.encode()).hexdigest()[:16]
        return {"source": "synthetic", "size": self.size.name, "seed": self.seed, "plans": digest}

    def live(self, drawn: Drawn) -> Episode:
        """Live it, and measure how plainly each fault shows."""
        lived = live(cast("EpisodePlan", drawn.plan))
        history = JobHistory(lived.plan.cluster.job, lived.windows, lived.description, lived.events)
        return Episode(_facts(drawn, lived, history), history)


def _facts(drawn: Drawn, lived: LivedEpisode, history: JobHistory) -> Facts:
    plan = lived.plan
    faults = [_fault(label) for label in lived.labels]
    broken = {node for fault in faults for node in fault.nodes}
    shown = (len(metrics_that_show(history, one, broken)) for one in faults)
    return Facts(
        name=drawn.name,
        job=plan.cluster.job,
        part=drawn.part,
        nodes=plan.cluster.shape.nodes,
        first_second=plan.cluster.first_second + plan.first,
        seconds=plan.seconds,
        missing_share=plan.missing_share,
        faults=tuple(
            replace(one, metrics_shown=None if one.is_group else number)
            for one, number in zip(faults, shown, strict=True)
        ),
    )


def _fault(label: FaultLabel) -> Fault:
    return Fault(
        kind=label.kind,
        nodes=label.nodes,
        gpu=label.gpu,
        onset=label.onset,
        end=label.end,
        stopped_at=label.stopped_at,
        halted_at=label.halted_at,
        loudness=label.loudness.value,
        is_group=label.is_group,
    )
