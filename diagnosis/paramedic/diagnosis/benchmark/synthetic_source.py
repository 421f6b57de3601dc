"""Episodes of the synthetic cluster."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from paramedic.diagnosis.benchmark.episodes import Drawn, Episode, Facts, Fault, Part
from paramedic.diagnosis.benchmark.provenance import code_digest
from paramedic.ingest.synthetic.episodes.drawing import draw_fault_episodes, draw_healthy_episodes
from paramedic.ingest.synthetic.episodes.living import live
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, Split
from paramedic.ingest.synthetic.episodes.visibility import visible_beside, without_faults
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
    has_twins: bool = True
    """Whether faulty test episodes are lived beside their twins; nobody is judged by that."""

    def draw(self, part: Part) -> Sequence[Drawn]:
        """Faulty episodes, then healthy ones."""
        split, amount = Split(part.value), self.size.amounts[part]
        kinds = (
            (draw_fault_episodes(split, amount.fault_episodes, self.seed), amount.for_disturbed),
            (draw_healthy_episodes(split, amount.healthy_hours, self.seed), 0.0),
        )
        return [
            Drawn(
                plan.name, part, plan,
                is_for_variants=at < math.ceil(amount.for_variants * len(plans)),
                is_for_disturbed=at < math.ceil(disturbed * len(plans)),
            )
            for plans, disturbed in kinds
            for at, plan in enumerate(plans)
        ]  # fmt: skip

    def drawn(self) -> Mapping[str, object]:
        """What tells this draw from others: size, seed, all plans, and the code that lives them."""
        plans = repr([one.plan for part in Part for one in self.draw(part)])
        digest = hashlib.sha256(plans.encode()).hexdigest()[:16]
        return {
            "source": "synthetic", "size": self.size.name, "seed": self.seed, "plans": digest,
            "code": code_digest(live.__module__, visible_beside.__module__),
        }  # fmt: skip

    def live(self, drawn: Drawn) -> Episode:
        """Live it; a faulty test episode beside its twin, to tell how plainly the fault shows."""
        plan = cast("EpisodePlan", drawn.plan)
        lived = live(plan)
        shown = None
        is_test = self.has_twins and drawn.part is Part.TEST
        if is_test and len(lived.labels) == 1 and not lived.labels[0].is_group:
            shown = len(visible_beside(lived, live(without_faults(plan))))
        history = JobHistory(plan.cluster.job, lived.windows, lived.description, lived.events)
        return Episode(_facts(drawn, plan, lived, shown), history)


def _facts(drawn: Drawn, plan: EpisodePlan, lived: LivedEpisode, shown: int | None) -> Facts:
    return Facts(
        name=drawn.name,
        job=plan.cluster.job,
        part=drawn.part,
        nodes=plan.cluster.shape.nodes,
        first_second=plan.cluster.first_second + plan.first,
        seconds=plan.seconds,
        missing_share=plan.missing_share,
        faults=tuple(replace(_fault(label), metrics_shown=shown) for label in lived.labels),
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
