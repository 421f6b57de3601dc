"""Who is named by dumps of the flight recorder, once the job is seen to stand.

A dump may be taken of a job that is well, in which somebody is always a little late. So what dumps
say is held until the job stands still, or somebody hangs; a step that is made later refutes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import (
    Candidate,
    Evidence,
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Tier,
)
from paramedic.diagnosis.finding import Finding, Subject, Trouble, moment
from paramedic.ingest.contract import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.docket import Docket
    from paramedic.ingest.contract import Event, NodeName

_CONFIDENCE = 0.97
_LAST_STEP_SECONDS = 5.0
"""A step may end so long after the others were found to wait."""
_LONGEST_HELD_SECONDS = 900.0
"""Of a job that has not come to stand by then, dumps say nothing."""
METRIC = "flight_recorder_rank"
_ADVICE = Recommendation(
    RecommendedAction.REPLACE_RANK, "the other ranks wait for it in a collective"
)
_OPEN = (Trouble.JOB, Trouble.ALIVE)


@dataclass(frozen=True, slots=True)
class JobNow:
    """What is known of the job when dumps are looked at."""

    second: int
    """The newest of its telemetry (Unix seconds)."""
    generation: int
    progress: int | None
    """The newest second in which a step was made."""
    is_standing: bool
    """Whether its steps, or its GPUs, have come to stand."""
    nodes: Mapping[int, NodeName]
    """Of the ranks that are named, where that is known."""
    departed: frozenset[NodeName]


@dataclass(slots=True)
class RecorderWatch:
    """What dumps have said, by rank, as long as it may be true."""

    held: dict[int, Event] = field(default_factory=dict)

    def hear(self, event: Event) -> None:
        """Keep what the newest dumps say of a rank."""
        if event.kind is EventKind.FLIGHT_RECORDER and event.rank is not None:
            self.held[event.rank] = event

    def acquit(self, job: JobNow, docket: Docket) -> Iterator[Verdict]:
        """Ends what dumps alone have named, once the job makes steps again."""
        for subject, verdict in list(docket.open.items()):
            is_ours = verdict.fault is Fault.HANG and verdict.tier is Tier.APPLICATION
            since = verdict.detected_at.timestamp() + _LAST_STEP_SECONDS
            if is_ours and job.progress is not None and job.progress > since:
                yield from docket.clear(*subject[:2], moment(job.progress), "the job goes on")

    def judge(self, job: JobNow, docket: Docket) -> Iterator[Verdict]:
        """The accusations, each once: of who is named, if the job stands."""
        oldest = job.second - _LONGEST_HELD_SECONDS
        if job.progress is not None:
            oldest = max(oldest, job.progress - _LAST_STEP_SECONDS)
        self.held = {r: e for r, e in self.held.items() if e.timestamp.timestamp() >= oldest}
        if not self.held or not (job.is_standing or _is_told(docket)):
            return
        held, self.held = self.held, {}
        by_node: dict[NodeName, list[Event]] = {}
        for rank, event in sorted(held.items()):
            node = event.node or job.nodes.get(rank)
            if node is not None and node not in job.departed:
                by_node.setdefault(node, []).append(event)
        for node, events in by_node.items():
            yield from _accuse(_finding(node, events, by_node, job), docket)


def _is_told(docket: Docket) -> bool:
    """Whether a verdict says already that the job, or a rank of it, has come to stand."""
    return any(
        subject.trouble in _OPEN and verdict.phase is Phase.FAILED
        for subject, verdict in docket.open.items()
    )


def _accuse(finding: Finding, docket: Docket) -> tuple[Verdict, ...]:
    """A verdict of its own, or more evidence for the one that is open about the node."""
    if docket.would_change(finding):
        return docket.report(finding)
    at = finding.detected_at
    supported = docket.support(Subject(finding.node, Trouble.ALIVE), at, finding.evidence)
    return () if supported is None else (supported,)


def _finding(
    node: NodeName,
    events: Sequence[Event],
    by_node: Mapping[NodeName, Sequence[Event]],
    job: JobNow,
) -> Finding:
    newest = max(event.timestamp for event in events)
    onset = newest if job.progress is None else min(newest, moment(job.progress))
    said = "; ".join(str(event.details.get("message") or f"rank {event.rank}") for event in events)
    return Finding(
        node=node,
        rank=events[0].rank,
        generation=max(job.generation, 0),
        fault=Fault.HANG,
        phase=Phase.FAILED,
        tier=Tier.APPLICATION,
        confidence=_CONFIDENCE,
        onset=onset,
        detected_at=max(newest, moment(job.second)),
        summary=f"the flight recorders name {node}: {said}",
        candidates=tuple(
            Candidate(one, float(sum(_waiting(event) for event in those)))
            for one, those in sorted(by_node.items(), key=lambda pair: pair[0] != node)
        ),
        evidence=tuple(
            Evidence(METRIC, float(event.rank or 0), None, 0.0, onset) for event in events
        ),
        action=_ADVICE,
    )


def _waiting(event: Event) -> int:
    waiting = event.details.get("waiting")
    return waiting if isinstance(waiting, int) else 1
