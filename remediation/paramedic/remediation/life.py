"""What the ledger reads out of a job's events and verdicts: its states and its stops. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Phase, Status, Verdict
from paramedic.ingest.contract import Event, EventKind, JobState
from paramedic.remediation.incidents import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

BREAKS = frozenset({JobState.STARTING, JobState.WARMING_UP, JobState.RECOVERING, JobState.RESIZING})
"""States in which the job does not train because something happened to it."""


@dataclass(frozen=True, slots=True)
class VerdictLife:
    """A verdict with what its history tells."""

    verdict: Verdict
    """The newest state."""
    known_at: datetime
    """`detected_at` of its first state."""
    incident: str | None


@dataclass(frozen=True, slots=True)
class StateChange:
    """A `job_state` event, or the end of a wait within one."""

    at: datetime
    state: JobState
    step: int | None = None
    steps_lost: int = 0
    waits: bool = False
    """Whether a recovery waits for a worker, because none was ready."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault as it was seen, whether or not it stopped the job."""

    onset: datetime
    known_at: datetime
    named_at: datetime | None
    """When a machine was named; None when none ever was."""
    resolved_at: datetime | None
    incident: str | None
    stops_job: bool
    """The job stood still from the onset, whatever its state said."""
    needs_break: bool
    """It counts only where the job's states show an interruption."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A stretch in which the job stood still; `onset <= known_at <= named_at <= over_at`."""

    onset: datetime
    known_at: datetime
    named_at: datetime
    over_at: datetime
    incident: str | None


def state_changes(events: Iterable[Event]) -> list[StateChange]:
    """The job's states, oldest first. A wait for a worker ends when a worker takes the rank."""
    changes: list[StateChange] = []
    for event in sorted(events, key=lambda event: event.timestamp):
        if event.kind is EventKind.JOB_STATE:
            changes.append(_state_change(event))
        elif event.details.get("change") == "replaced_by" and changes and changes[-1].waits:
            changes.append(replace(changes[-1], at=event.timestamp, waits=False))
    return changes


def _state_change(event: Event) -> StateChange:
    state = JobState(str(event.details["state"]))
    return StateChange(
        at=event.timestamp,
        state=state,
        step=_whole(event.details.get("step")),
        steps_lost=max(_whole(event.details.get("steps_lost")) or 0, 0),
        waits=state is JobState.RECOVERING and event.details.get("waiting") is True,
    )


def newest_life(changes: Iterable[StateChange]) -> list[StateChange]:
    """The states after the last end that something followed; a repeated end is one end."""
    life: list[StateChange] = []
    for change in changes:
        is_over = bool(life) and life[-1].state is JobState.FINISHED
        if is_over and change.state is JobState.FINISHED:
            continue
        if is_over:
            life.clear()
        life.append(change)
    return life


def trouble_of(life: VerdictLife) -> Trouble:
    """The ledger's view of a verdict."""
    verdict = life.verdict
    is_resolved = verdict.status is Status.RESOLVED
    return Trouble(
        onset=verdict.failed_at or verdict.onset,
        known_at=life.known_at,
        named_at=life.known_at if nodes_of(verdict) else None,
        resolved_at=verdict.detected_at if is_resolved else None,
        incident=life.incident,
        stops_job=verdict.phase is Phase.FAILED,
        needs_break=verdict.fault is Fault.PROCESS_EXIT,
    )


def exits(events: Iterable[Event]) -> Iterator[Trouble]:
    """Unexpected ends of workers that carried a rank."""
    for event in events:
        is_exit = event.kind is EventKind.PROCESS_EXIT and event.rank is not None
        if is_exit and not event.details.get("expected", False):
            at = event.timestamp
            yield Trouble(at, at, at, None, None, stops_job=True, needs_break=True)


def stops(changes: Sequence[StateChange], troubles: Iterable[Trouble], end: datetime) -> list[Stop]:
    """The stretches in which a fault held the job up, earliest first."""
    found = [_stop(changes, trouble, end) for trouble in troubles if trouble.stops_job]
    real = [stop for stop in found if stop is not None]
    return sorted(real, key=lambda stop: (stop.onset, stop.known_at))


def _stop(changes: Sequence[StateChange], trouble: Trouble, end: datetime) -> Stop | None:
    broken_at, trains_at = _interruption(changes, trouble.onset)
    if trouble.needs_break and broken_at is None:
        return None
    over_at = _earliest(trains_at, trouble.resolved_at, end)
    if over_at <= trouble.onset:
        return None
    # Whoever interrupts the job knows of the fault, and of the machine.
    known_at = min(max(_earliest(broken_at, trouble.known_at), trouble.onset), over_at)
    named_at = min(max(_earliest(broken_at, trouble.named_at, over_at), known_at), over_at)
    return Stop(trouble.onset, known_at, named_at, over_at, trouble.incident)


def _interruption(
    changes: Sequence[StateChange], onset: datetime
) -> tuple[datetime | None, datetime | None]:
    """When the job left training at or after the onset, and when it trained again."""
    broken_at: datetime | None = None
    for change in changes:
        if change.at <= onset:
            broken_at = onset if change.state in BREAKS else None
        elif change.state in BREAKS:
            broken_at = broken_at or change.at
        elif change.state is JobState.TRAINING and broken_at is not None:
            return broken_at, change.at
    return broken_at, None


def _earliest(*moments: datetime | None) -> datetime:
    return min(moment for moment in moments if moment is not None)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
