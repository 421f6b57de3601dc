"""What every finding passes before it becomes a verdict: the one gate of the docket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Phase
from paramedic.diagnosis.finding import FEWEST_MEMBERS
from paramedic.diagnosis.maintenance.plan import MaintenancePlan
from paramedic.ingest.contract import NodeName

if TYPE_CHECKING:
    from paramedic.diagnosis.finding import Finding

Odds = Callable[[NodeName, float], float]
"""By what a node's past multiplies the odds of an accusation in this second (Unix seconds)."""


def no_past(_node: NodeName, _second: float) -> float:
    """Every node is like every other."""
    return 1.0


@dataclass(slots=True)
class Admission:
    """Puts aside what is said of machines under declared maintenance, and weighs the rest."""

    plan: MaintenancePlan = field(default_factory=MaintenancePlan)
    odds_factor: Odds = no_past

    def admitted(self, finding: Finding) -> Finding | None:
        """What of the finding may be told now: members of a group that are put aside are left out.

        None where nothing is left of it. A failure that is put aside is remembered.
        """
        second = finding.detected_at.timestamp()
        named = finding.members or (finding.node,)
        aside = [node for node in named if self.plan.covers(node, second)]
        if not aside:
            return finding
        for node in aside:
            if node is not None and finding.phase is Phase.FAILED:
                self.plan.note_stop(node)
        kept = tuple(node for node in finding.members if node not in aside)
        return replace(finding, members=kept) if len(kept) >= FEWEST_MEMBERS else None

    def weighed(self, finding: Finding) -> Finding:
        """The finding with the confidence that the past of its node gives it."""
        if finding.node is None or finding.fault is Fault.NODE_FAILURE_RATE:
            return finding
        factor = self.odds_factor(finding.node, finding.detected_at.timestamp())
        if factor == 1.0 or not 0 < finding.confidence < 1:
            return finding
        odds = factor * finding.confidence / (1 - finding.confidence)
        return replace(finding, confidence=round(odds / (1 + odds), 4))
