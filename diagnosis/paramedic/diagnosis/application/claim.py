"""What is found about the training, before it is a finding about the job."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import (
    Evidence,
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Severity,
    Tier,
)
from paramedic.diagnosis.finding import Finding, moment

if TYPE_CHECKING:
    from datetime import datetime

_ACTIONS = {
    Fault.GRADIENT_EXPLOSION: Recommendation(
        RecommendedAction.HAND_OVER,
        "the gradients have grown beyond the usual: look at data and learning rate before weights"
        " are saved over good ones",
    ),
    Fault.LOSS_DIVERGENCE: Recommendation(
        RecommendedAction.HAND_OVER,
        "what is trained from here on may be lost: go back to a checkpoint of before, with other"
        " data or a lower learning rate",
    ),
    Fault.CONFIGURATION_JUMP: Recommendation(
        RecommendedAction.NOTIFY, "no schedule changes so much at once: somebody should say why"
    ),
    Fault.DATA_STALL: Recommendation(
        RecommendedAction.NOTIFY,
        "all ranks wait for data: look at the storage and the loaders, not at one machine",
    ),
    Fault.THROUGHPUT_DROP: Recommendation(
        RecommendedAction.NOTIFY, "every rank is affected, so replacing one would not help"
    ),
    Fault.CHECKPOINT_FAILED: Recommendation(
        RecommendedAction.NOTIFY, "a failure now would cost all steps since the last one saved"
    ),
}


@dataclass(frozen=True, slots=True)
class Claim:
    """One trouble of the training at one moment."""

    fault: Fault
    severity: Severity
    phase: Phase
    confidence: float
    onset: datetime
    detected_at: datetime
    summary: str
    evidence: tuple[Evidence, ...] = ()

    def finding(self, generation: int) -> Finding:
        """The finding about the job; nobody is accused."""
        return Finding(
            node=None,
            rank=None,
            generation=generation,
            fault=self.fault,
            phase=self.phase,
            tier=Tier.APPLICATION,
            confidence=self.confidence,
            onset=min(self.onset, self.detected_at),
            detected_at=self.detected_at,
            summary=self.summary,
            candidates=(),
            evidence=self.evidence,
            severity=self.severity,
            action=_ACTIONS[self.fault],
        )


def shown(metric: str, value: float, usual: float, deviation: float, since: int) -> Evidence:
    """One series against what is usual for it; what is no number cannot be written as one."""
    return Evidence(
        metric,
        _number(value),
        _number(usual),
        round(deviation, 2) if math.isfinite(deviation) else 0.0,
        moment(since),
    )


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def confidence_of(surplus: float, false_alarms: float, expected: float) -> float:
    """Share of alarms with so many nats above the level that are real."""
    return round(expected / (expected + false_alarms * math.exp(-max(surplus, 0.0))), 4)
