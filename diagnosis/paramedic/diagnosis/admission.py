"""What every finding passes before it becomes a verdict: the one gate of the docket."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Phase
from paramedic.diagnosis.finding import FEWEST_MEMBERS
from paramedic.diagnosis.gravity import graded
from paramedic.diagnosis.maintenance.plan import MaintenancePlan
from paramedic.ingest.contract import NodeName

if TYPE_CHECKING:
    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.finding import Finding, Subject

Speed = Callable[[float], float]
"""What is left of the job's throughput in this second (Unix seconds); NaN: nobody knows."""
Company = Callable[["Finding"], "Finding"]
"""What is found of one node, or of the group that it befalls with it."""
Odds = Callable[[NodeName, float], float]
"""By what a node's past multiplies the odds of an accusation in this second (Unix seconds)."""


def no_past(_node: NodeName, _second: float) -> float:
    """Every node is like every other."""
    return 1.0


def alone(finding: Finding) -> Finding:
    """Nobody shares anything with the node."""
    return finding


def unknown_speed(_second: float) -> float:
    """Nobody tells how fast the job is."""
    return math.nan


@dataclass(slots=True)
class Admission:
    """Puts aside what is said of machines under declared maintenance, and weighs the rest:
    how grave it is, and how much the past of its node says."""

    plan: MaintenancePlan = field(default_factory=MaintenancePlan)
    odds_factor: Odds = no_past
    throughput_left: Speed = unknown_speed
    joined: Company = alone

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

    def weighed(self, finding: Finding, known: Mapping[Subject, Verdict]) -> Finding:
        """The finding with its severity beside what is open, and the confidence of its past."""
        left = self.throughput_left(finding.detected_at.timestamp())
        return self._by_past(graded(finding, known, left))

    def _by_past(self, finding: Finding) -> Finding:
        if finding.node is None or finding.fault is Fault.NODE_FAILURE_RATE:
            return finding
        factor = self.odds_factor(finding.node, finding.detected_at.timestamp())
        if factor == 1.0 or not 0 < finding.confidence < 1:
            return finding
        odds = factor * finding.confidence / (1 - finding.confidence)
        return replace(finding, confidence=round(odds / (1 + odds), 4))
