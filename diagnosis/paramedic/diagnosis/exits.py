"""A process that has ended: hard evidence, decided the instant the event arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Candidate, Evidence, Fault, Phase, Tier
from paramedic.diagnosis.finding import Finding
from paramedic.ingest.contract import EventKind

if TYPE_CHECKING:
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.ingest.contract import Event, NodeName


def judge_exit(event: Event, picture: JobPicture) -> Finding | None:
    """The accusation by a `process_exit` of a rank that nobody asked to end; else nothing.

    Nothing is said of an exit that the job has already recovered from: its event came too late.
    """
    if event.kind is not EventKind.PROCESS_EXIT or event.details.get("expected") is True:
        return None
    generation = picture.generation if event.generation is None else event.generation
    if picture.is_over(generation, event.timestamp.timestamp()):
        return None
    if event.node is None or event.rank is None:
        return None
    return Finding(
        node=event.node,
        rank=event.rank,
        generation=generation,
        fault=Fault.PROCESS_EXIT,
        phase=Phase.FAILED,
        tier=Tier.KNOWN_ERROR,
        confidence=1.0,
        onset=event.timestamp,
        detected_at=event.timestamp,
        summary=_summary(event, event.node),
        candidates=(Candidate(event.node, 1.0),),
        evidence=(Evidence("process_exit", _code(event), None, 0.0, event.timestamp),),
    )


def _summary(event: Event, node: NodeName) -> str:
    what = f"the process of rank {event.rank} on {node} has ended{_ending(event)}"
    if event.details.get("ended_by") != "launcher":
        return f"{what}, and nobody asked it to"
    return f"{what}: the launcher ended it: {event.details.get('reason') or 'it did not say why'}"


def _ending(event: Event) -> str:
    signal = event.details.get("signal")
    if signal is not None:
        return f" by signal {signal}"
    code = event.details.get("exit_code")
    return f" with exit code {code}" if code is not None else ""


def _code(event: Event) -> float | None:
    """Exit code or number of the signal, where the event has one."""
    for field in ("exit_code", "signal"):
        value = event.details.get(field)
        if isinstance(value, int | float):
            return float(value)
    return None
