"""What every finding passes before it becomes a verdict: the one gate of the docket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Phase
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

    def admits(self, finding: Finding) -> bool:
        """Whether the finding may be told."""
        return not self.plan.covers(finding.node, finding.detected_at.timestamp())

    def admit(self, finding: Finding) -> Finding | None:
        """The finding as it may be told; None where nothing may be said now."""
        node, second = finding.node, finding.detected_at.timestamp()
        if self.admits(finding):
            is_of_now = node is not None and finding.fault is not Fault.NODE_FAILURE_RATE
            factor = self.odds_factor(node, second) if node is not None and is_of_now else 1.0
            return finding if factor == 1.0 else _weighed(finding, factor)
        if node is not None and finding.phase is Phase.FAILED:
            self.plan.note_stop(node)
        return None


def _weighed(finding: Finding, factor: float) -> Finding:
    """The finding with its odds multiplied."""
    if not 0 < finding.confidence < 1:
        return finding
    odds = factor * finding.confidence / (1 - finding.confidence)
    return replace(finding, confidence=round(odds / (1 + odds), 4))
