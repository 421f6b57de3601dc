"""What a rule hands to the docket: what it has found, before that has an id and a life."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

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
from paramedic.diagnosis.family.severity import Impact, severity_of
from paramedic.ingest.contract import NodeName

if TYPE_CHECKING:
    from collections.abc import Iterable


class Trouble(StrEnum):
    """Kinds of trouble; a node has at most one open verdict of each."""

    ALIVE = "alive"
    """The process exists, or nobody has seen it end: slow, hung, out of reach."""
    GONE = "gone"
    """The process has ended: hard evidence, and a verdict of its own."""
    JOB = "job"
    """Of the job as a whole: it stands still, or is no longer heard of."""
    DEPARTED = "departed"
    """It works, and not as its peers do."""
    UNHEARD = "unheard"
    """Its telemetry has ceased while its peers' comes."""
    CARD = "card"
    """A GPU is no longer there, or its driver or its counters tell of an error; every GPU has a
    verdict of its own, and the node one where several tell at once."""
    LEARNING = "learning"
    """Of the job: its loss or its gradients go wrong."""
    CONFIGURATION = "configuration"
    """Of the job: something about it was changed that no schedule changes."""
    INPUT = "input"
    """Of the job: it waits for data."""
    PACE = "pace"
    """Of the job: it goes on, slower than it did."""
    CHECKPOINT = "checkpoint"
    """Of the job: it was not saved."""
    OFTEN = "often"
    """It fails abnormally often: said of the machine, not of what it does now."""
    GROUP = "group"
    """Of several nodes that share something: they depart together."""


FEWEST_MEMBERS = 3
"""Of a group (formats, section 3)."""


OF_THE_MACHINE = (Trouble.DEPARTED, Trouble.UNHEARD, Trouble.CARD)
"""Troubles that go with the node when it leaves the job."""
NOT_WORKING = (Trouble.DEPARTED, Trouble.ALIVE)
"""One of these is enough to say that a node does not work as it should."""

_BADNESS = {
    Fault.STRAGGLER: 0,
    Fault.HANG: 1,
    Fault.MACHINE_UNREACHABLE: 2,
    Fault.PROCESS_EXIT: 3,
    Fault.TELEMETRY_LOST: 0,
    Fault.THROUGHPUT_DROP: 1,
    Fault.UNKNOWN: 0,
    Fault.GPU_CARD_DROP: 1,
    Fault.GRADIENT_EXPLOSION: 0,
    Fault.LOSS_DIVERGENCE: 1,
}
"""Compared only within one kind of trouble."""
_TROUBLE = {
    Fault.PROCESS_EXIT: Trouble.GONE,
    Fault.THROUGHPUT_DROP: Trouble.JOB,
    Fault.UNKNOWN: Trouble.DEPARTED,
    Fault.GPU_CARD_DROP: Trouble.CARD,
    Fault.NODE_FAILURE_RATE: Trouble.OFTEN,
    Fault.GRADIENT_EXPLOSION: Trouble.LEARNING,
    Fault.LOSS_DIVERGENCE: Trouble.LEARNING,
    Fault.CONFIGURATION_JUMP: Trouble.CONFIGURATION,
    Fault.DATA_STALL: Trouble.INPUT,
    Fault.CHECKPOINT_FAILED: Trouble.CHECKPOINT,
}
_KNOWN_ELSEWHERE = (Fault.PROCESS_EXIT, Fault.NODE_FAILURE_RATE)
"""Known errors that no driver and no counter tells."""

RECOMMENDATIONS = {
    Fault.STRAGGLER: Recommendation(
        RecommendedAction.REPLACE_RANK, "every rank of the job waits for the slowest one"
    ),
    Fault.HANG: Recommendation(
        RecommendedAction.REPLACE_RANK, "the rank gets nowhere and the job waits for it"
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
    Fault.UNKNOWN: Recommendation(
        RecommendedAction.RUN_TEST, "it works unlike its peers, and nothing says why"
    ),
    Fault.GPU_CARD_DROP: Recommendation(
        RecommendedAction.REPLACE_NODE, "a GPU that has fallen off the bus needs its node reset"
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """An accusation of one node or of a group, or what has befallen the whole job."""

    node: NodeName | None
    """None for a group and for the job as a whole."""
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
    severity: Severity | None = None
    """None where the rule decides (`gravity`): by who else is accused and what the job does."""
    gpu: int | None = None
    """None unless it is about this GPU alone."""
    action: Recommendation | None = None
    """None where the fault alone says what to do."""
    members: tuple[NodeName, ...] = ()
    """The nodes of a group, by name; empty where it is about one node or the job."""
    throughput_ratio: float = math.nan
    """What is left of the job's throughput, where it shows in the finding itself; 0: it stands."""
    is_trend: bool = False
    """Whether what is seen hurts nobody as long as it does not go on."""

    def __post_init__(self) -> None:
        if self.members and (self.node is not None or len(self.members) < FEWEST_MEMBERS):
            raise ValueError(
                f"a group has no node of its own and {FEWEST_MEMBERS} members at least, not"
                f" node {self.node!r} and members {self.members!r}"
            )

    @property
    def scope(self) -> Scope:
        """What the verdict will speak of."""
        if self.node is None:
            return Scope.GROUP if self.members else Scope.JOB
        return Scope.NODE if self.gpu is None else Scope.GPU

    @property
    def subject(self) -> Subject:
        """Which open verdict this belongs to."""
        return subject_of(self.node, self.fault, self.gpu, self.tier, self.phase, self.members)

    @property
    def gravity(self) -> Severity:
        """The severity, as far as the finding alone says."""
        if self.severity is not None:
            return self.severity
        return severity_of(self.fault, self.impact(self.throughput_ratio))

    def impact(self, throughput_ratio: float, nodes_accused: int = 1) -> Impact:
        """What it does to the job that has so much of its throughput left (as in `Impact`)."""
        return Impact(nodes_accused, throughput_ratio, is_trend=self.is_trend)

    @property
    def recommendation(self) -> Recommendation:
        """What to do about it."""
        return RECOMMENDATIONS[self.fault] if self.action is None else self.action


_OF_RANKS = (Fault.STRAGGLER, Fault.HANG, Fault.MACHINE_UNREACHABLE, Fault.PROCESS_EXIT)
"""What ranks are accused of by their pattern, too."""


class Subject(NamedTuple):
    """What there is at most one open verdict of."""

    node: NodeName | None
    """None for a group and for the job as a whole."""
    trouble: Trouble
    gpu: int | None = None
    """Only where every GPU of the node has its own."""
    members: tuple[NodeName, ...] = ()
    """Only of a group."""


def subject_of(
    node: NodeName | None,
    fault: Fault,
    gpu: int | None,
    tier: Tier,
    phase: Phase,
    members: tuple[NodeName, ...] = (),
) -> Subject:
    """What a verdict with this node, fault and GPU, decided by this tier, is about."""
    if members:
        return Subject(None, Trouble.GROUP, members=members)
    if fault is Fault.THROUGHPUT_DROP and phase is not Phase.FAILED:
        return Subject(node, Trouble.PACE)
    if fault is Fault.TELEMETRY_LOST:
        return Subject(node, Trouble.JOB if node is None else Trouble.UNHEARD)
    if tier is Tier.PATTERN and node is not None and fault not in _OF_RANKS:
        return Subject(node, Trouble.DEPARTED)
    is_reported = tier is Tier.KNOWN_ERROR and fault not in _KNOWN_ELSEWHERE
    trouble = Trouble.CARD if is_reported else _TROUBLE.get(fault, Trouble.ALIVE)
    return Subject(node, trouble, gpu if trouble is Trouble.CARD else None)


def is_worse(fault: Fault, known: Fault) -> bool:
    """Whether an open verdict has to be updated: straggler, hang, machine_unreachable, in order.

    Of the job: telemetry_lost, throughput_drop.
    """
    return _BADNESS.get(fault, 0) > _BADNESS.get(known, 0)


def ranked(scores: Iterable[tuple[NodeName, float]], most: int) -> tuple[Candidate, ...]:
    """The nodes by their highest score, each once; whom nothing speaks against is none.

    >>> [(c.node, c.score) for c in ranked([("a", 1.0), ("b", 0.001), ("a", 3.0)], 5)]
    [('a', 3.0)]
    """
    highest: dict[NodeName, float] = {}
    for node, score in scores:
        highest[node] = max(highest.get(node, 0.0), round(score, 2))
    found = sorted((-score, node) for node, score in highest.items() if score > 0)
    return tuple(Candidate(node, -score) for score, node in found[:most])


def each_once(scores: Iterable[tuple[NodeName, float]], most: int) -> tuple[Candidate, ...]:
    """The nodes in the order in which they come, each once: a node may carry several ranks.

    >>> [(c.node, c.score) for c in each_once([("a", 0.0), ("a", -1.0), ("b", -2.0)], 5)]
    [('a', 0.0), ('b', -2.0)]
    """
    first: dict[NodeName, float] = {}
    for node, score in scores:
        first.setdefault(node, score)
    return tuple(Candidate(node, score) for node, score in list(first.items())[:most])


def moment(second: int) -> datetime:
    """A slot as the time that people read.

    >>> moment(0).isoformat()
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(second, tz=UTC)
