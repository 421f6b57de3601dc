"""The life of each job as events: it appears, grows, shrinks, trains and ends.

A job is announced once its cadence is known (from a few samples of half of its nodes): `job_state:
starting` with `sampling_seconds`, a `joined` for each node, and `training` as soon as its GPUs have
been in use for a while. When the last node has left it is `finished`; the same name may begin anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from paramedic.ingest.collect.cadence import Pulse, grid_of
from paramedic.ingest.contract import Event, EventKind, JobName, JobState, NodeName

if TYPE_CHECKING:
    from paramedic.ingest.collect.repeats import Repeats
    from paramedic.ingest.collect.tenancy import Move, Tenancy

_GENERATION = 0
"""Nobody outside a job counts its generations."""
_CADENCE_REVIEW_SECONDS = 60


@dataclass(slots=True)
class Life:
    """A job that has been announced."""

    sampling_seconds: int
    is_training: bool = False
    reviewed_at: int = 0
    """When its cadence was last looked at (Unix seconds)."""
    doubt: int | None = None
    """Another grid than now, as the last review found it."""


class Lives:
    """All jobs that have telemetry now."""

    def __init__(self, tenancy: Tenancy, repeats: Repeats) -> None:
        self._tenancy = tenancy
        self._repeats = repeats
        self._forming: set[JobName] = set()
        self.announced: dict[JobName, Life] = {}

    def sampling_seconds(self, job: JobName) -> int | None:
        """The width of the job's slots; None as long as it is not announced."""
        life = self.announced.get(job)
        return None if life is None else life.sampling_seconds

    def follow(self, moves: list[Move], second: int) -> Iterator[Event]:
        """Take over who came and left; the events that follow."""
        for move in moves:
            if move.job in self.announced:
                yield _membership(move, second)
            else:
                self._forming.add(move.job)
        for job in sorted({move.job for move in moves if not move.has_joined}):
            if not self._tenancy.size_of(job):
                yield from self._end(job, second)

    def pass_time(self, second: int) -> Iterator[Event]:
        """Announce what can be announced by now."""
        for job in sorted(self._forming):
            yield from self._announce(job, second)
        for job, life in self.announced.items():
            if not life.is_training and self._tenancy.is_working(job, second):
                life.is_training = True
                yield _state(job, JobState.TRAINING, second, life)
            elif second - life.reviewed_at >= _CADENCE_REVIEW_SECONDS:
                yield from self._review(job, life, second)

    def _announce(self, job: JobName, second: int) -> Iterator[Event]:
        grid = self._grid(job)
        if grid is None:
            return
        self._forming.discard(job)
        life = self.announced[job] = Life(grid, reviewed_at=second)
        yield _state(job, JobState.STARTING, second, life)
        for node in self._tenancy.nodes_of(job):
            yield _membership(self._tenancy.arrival(job, node), second)

    def _review(self, job: JobName, life: Life, second: int) -> Iterator[Event]:
        """A cadence that two reviews in a row find is the job's new one."""
        grid = self._grid(job)
        life.reviewed_at = second
        has_changed = grid is not None and grid != life.sampling_seconds
        if grid is not None and has_changed and grid == life.doubt:
            life.sampling_seconds, life.doubt = grid, None
            state = JobState.TRAINING if life.is_training else JobState.STARTING
            yield _state(job, state, second, life)
        else:
            life.doubt = grid if has_changed else None

    def _grid(self, job: JobName) -> int | None:
        return grid_of(self._pulses(job))

    def _pulses(self, job: JobName) -> Iterator[Pulse]:
        for node in self._tenancy.nodes_of(job):
            yield from self._repeats.pulses(node)

    def _end(self, job: JobName, second: int) -> Iterator[Event]:
        self._forming.discard(job)
        if self.announced.pop(job, None) is not None:
            details = {"reason": "no node carries it any more"}
            yield event_of(
                job, EventKind.JOB_STATE, second, {"state": JobState.FINISHED.value, **details}
            )


def event_of(
    job: JobName,
    kind: EventKind,
    at_seconds: float,
    details: Mapping[str, str | int | float | bool | None],
    node: NodeName | None = None,
    gpu: int | None = None,
) -> Event:
    """An event of a job that is watched from outside."""
    moment = datetime.fromtimestamp(at_seconds, UTC)
    return Event(moment, kind, job, node, gpu, generation=_GENERATION, details=details)


def _state(job: JobName, state: JobState, second: int, life: Life) -> Event:
    details = {"state": state.value, "sampling_seconds": life.sampling_seconds}
    return event_of(job, EventKind.JOB_STATE, second, details)


def _membership(move: Move, second: int) -> Event:
    details: dict[str, str | int]
    if move.has_joined:
        details = {"change": "joined", "gpus": move.gpus, **move.roles}
    else:
        details = {"change": "left"}
    return event_of(move.job, EventKind.MEMBERSHIP, second, details, move.node)
