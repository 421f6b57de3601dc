"""What a rule hands to the docket: what it has found, before that has an id and a life."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import (
    Candidate,
    Evidence,
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Scope,
    Severity,
    Tier,
)

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName


class Trouble(StrEnum):
    """Kinds of trouble; a node has at most one open verdict of each."""

    ALIVE = "alive"
    """The process exists, or nobody has seen it end: slow, hung, out of reach."""
    GONE = "gone"
    """The process has ended: hard evidence, and a verdict of its own."""
    JOB = "job"
    """Of the job as a whole: it stands still, or is no longer heard of."""


_BADNESS = {
    Fault.STRAGGLER: 0,
    Fault.HANG: 1,
    Fault.MACHINE_UNREACHABLE: 2,
    Fault.PROCESS_EXIT: 3,
    Fault.TELEMETRY_LOST: 0,
    Fault.THROUGHPUT_DROP: 1,
}
"""Compared only within one kind of trouble."""
_TROUBLE = {
    Fault.PROCESS_EXIT: Trouble.GONE,
    Fault.TELEMETRY_LOST: Trouble.JOB,
    Fault.THROUGHPUT_DROP: Trouble.JOB,
}

RECOMMENDATIONS = {
    Fault.STRAGGLER: Recommendation(
        RecommendedAction.REPLACE_RANK, "every rank of the job waits for the slowest one"
    ),
    Fault.HANG: Recommendation(
        RecommendedAction.REPLACE_RANK, "the process does nothing and the job waits for it"
    ),
    Fault.MACHINE_UNREACHABLE: Recommendation(
        RecommendedAction.REPLACE_NODE, "the node is silent in every channel"
    ),
    Fault.PROCESS_EXIT: Recommendation(
        RecommendedAction.REPLACE_RANK, "the rank's process has ended and the job cannot go on"
    ),
    Fault.THROUGHPUT_DROP: Recommendation(
        RecommendedAction.NOTIFY, "every rank is affected, so replacing one would not help"
    ),
    Fault.TELEMETRY_LOST: Recommendation(
        RecommendedAction.NOTIFY, "nobody can say whether the job is well"
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """An accusation of one node, or what has befallen the whole job."""

    node: NodeName | None
    """None for the job as a whole."""
    rank: int | None
    generation: int
    fault: Fault
    phase: Phase
    tier: Tier
    confidence: float
    onset: datetime
    detected_at: datetime
    summary: str
    candidates: tuple[Candidate, ...]
    evidence: tuple[Evidence, ...]
    severity: Severity = Severity.P1

    @property
    def scope(self) -> Scope:
        """What the verdict will speak of."""
        return Scope.JOB if self.node is None else Scope.NODE

    @property
    def trouble(self) -> Trouble:
        """Which open verdict of the node this belongs to."""
        return trouble_of(self.fault)


def trouble_of(fault: Fault) -> Trouble:
    """The kind of trouble that a fault is."""
    return _TROUBLE.get(fault, Trouble.ALIVE)


def is_worse(fault: Fault, known: Fault) -> bool:
    """Whether an open verdict has to be updated: straggler, hang, machine_unreachable, in order.

    Of the job: telemetry_lost, throughput_drop.
    """
    return _BADNESS[fault] > _BADNESS[known]


def moment(second: int) -> datetime:
    """A slot as the time that people read.

    >>> moment(0).isoformat()
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(second, tz=UTC)
