"""What somebody who watches many jobs hears: jobs by size, verdicts and hard facts by job."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from paramedic.api.wiring.narration import is_training, narrate
from paramedic.api.wiring.outages import Outages
from paramedic.api.wiring.wording import counted
from paramedic.diagnosis.contract import Status, Verdict
from paramedic.ingest.contract import Event, EventKind, JobState, NodeName

_HARD_FACTS = (EventKind.XID, EventKind.SXID, EventKind.TELEMETRY)
_VERDICTS_REMEMBERED = 10_000


@dataclass(slots=True)
class _Job:
    gpus: dict[NodeName, int] = field(default_factory=dict)
    """GPUs of each node that is in the job."""
    sampling_seconds: object = None
    """As it was told last; None before the job was told."""


class ManyJobs:
    """Turns messages into lines that begin with their own time, because a past is told quickly."""

    def __init__(
        self,
        clock: Callable[[], float],
        verdict: Callable[[Verdict], None] = lambda _verdict: None,
    ) -> None:
        """`clock` is a steady one (seconds); `verdict` takes each verdict once, beside its line."""
        self._clock = clock
        self._take_verdict = verdict
        self._outages = Outages()
        self._jobs: dict[str, _Job] = {}
        self._heard: set[tuple[str, Status, datetime]] = set()
        self._order: deque[tuple[str, Status, datetime]] = deque()

    def hear(self, said: Event | Verdict) -> list[str]:
        """The lines that it is worth."""
        if isinstance(said, Verdict):
            at, texts = said.detected_at, list(self._of_verdict(said))
        else:
            at, texts = said.timestamp, list(self._of_event(said))
        return [f"{at.astimezone(UTC):%H:%M:%SZ} job {said.job}: {text}" for text in texts]

    def rest(self, is_over: bool) -> Iterator[str]:
        """Lines that were held back to be told together, and are due; all of them at the end."""
        return self._outages.due(math.inf if is_over else self._clock())

    def _of_verdict(self, verdict: Verdict) -> Iterator[str]:
        state = (verdict.id, verdict.status, verdict.detected_at)
        if state in self._heard:  # a diagnosis that starts anew decides everything again
            return
        self._heard.add(state)
        self._order.append(state)
        if len(self._order) > _VERDICTS_REMEMBERED:
            self._heard.discard(self._order.popleft())
        self._take_verdict(verdict)
        line = narrate(verdict)
        if line is not None and verdict.status is not Status.UPDATED:
            yield line.text

    def _of_event(self, event: Event) -> Iterator[str]:
        job = self._jobs.setdefault(event.job, _Job())
        if event.kind is EventKind.MEMBERSHIP:
            yield from _of_membership(job, event)
        elif event.kind is EventKind.JOB_STATE:
            yield from self._of_state(job, event)
        elif event.kind in _HARD_FACTS and not self._outages.takes(event, self._clock()):
            yield _of_fact(event)

    def _of_state(self, job: _Job, event: Event) -> Iterator[str]:
        if event.details.get("state") == JobState.FINISHED.value:
            del self._jobs[event.job]
            if job.sampling_seconds is not None:
                yield f"has ended: {event.details.get('reason', 'nothing is known of why')}"
        elif is_training(event):
            sampling_seconds = event.details.get("sampling_seconds", 1)
            if sampling_seconds != job.sampling_seconds:
                job.sampling_seconds = sampling_seconds
                yield _size(job)


def _size(job: _Job) -> str:
    every = "second" if job.sampling_seconds == 1 else f"{job.sampling_seconds} s"
    nodes, gpus = counted(len(job.gpus), "node"), counted(sum(job.gpus.values()), "GPU")
    return f"trains: {nodes}, {gpus}, a sample every {every}"


def _of_membership(job: _Job, event: Event) -> Iterator[str]:
    if event.node is None:
        return
    is_known = job.sampling_seconds is not None
    if event.details.get("change") == "joined":
        was_in = event.node in job.gpus
        gpus = event.details.get("gpus")
        job.gpus[event.node] = gpus if isinstance(gpus, int) else 0
        if is_known and not was_in:
            yield f"{event.node} has joined"
    elif event.details.get("change") == "left":
        job.gpus.pop(event.node, None)
        if is_known:
            yield f"{event.node} has left"


def _of_fact(event: Event) -> str:
    whose = f"{event.node}" if event.gpu is None else f"GPU {event.gpu} of {event.node}"
    code = event.details.get("code", event.details.get("xid"))
    what = event.details.get("change") or f"{event.kind.value} {'' if code is None else code}"
    return f"{str(what).strip()} on {whose}"
