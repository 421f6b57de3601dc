"""How long a worker is waited for, and whether a waiting one still lives.

A worker that waits for its assignment is asked with `ping` whether it lives: its control thread
answers, whatever else the process does. One that does not answer several pings in a row has been
stopped or hangs, and it is ended before a rank is given to it. Pings are counted, not only timed,
so that a supervisor that was stopped itself blames nobody for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.remediation.launchers.local.job_record import JobRecord, Stage
from paramedic.remediation.launchers.local.messages import Ping
from paramedic.remediation.launchers.local.roster import Worker, WorkerPhase

if TYPE_CHECKING:
    from collections.abc import Iterator


_NOTE_SHARE = 0.25
"""Of the time to start: when it is said who is waited for."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """A worker is ended at this time, because of this."""

    worker: Worker
    at: float
    why: str


def worker_is_ready(job: JobRecord, worker: Worker, now: float) -> None:
    """It waits from now on: ask it whether it lives; the ranks it waits for get a limit.

    Who has raised an error is to leave all the same: no rank is given to it.
    """
    worker.due_at = worker.due_at if worker.raised else None
    worker.ping_at = now + job.rules.ping_seconds
    if job.stage is Stage.STARTING and worker.rank is not None and job.start_due_at is None:
        job.start_due_at = now + job.rules.start_timeout_seconds
        job.start_note_at = now + job.rules.start_timeout_seconds * _NOTE_SHARE


def answered(worker: Worker) -> None:
    """Something was heard of a worker: it lives."""
    worker.unanswered_pings = 0


def do_what_is_due(job: JobRecord, now: float) -> None:
    """End whoever is over a limit, and ask those that wait whether they live."""
    if job.start_note_at is not None and now >= job.start_note_at:
        job.start_note_at = None
        _name_the_late(job, now)
    for limit in list(_limits(job)):
        if now >= limit.at and not limit.worker.was_ended:
            job.end_by_itself(limit.worker, limit.why)
    for worker in _asked(job):
        if worker.ping_at is not None and now >= worker.ping_at:
            _ask(job, worker, now)


def deadlines(job: JobRecord) -> list[float]:
    """When `do_what_is_due` has something to do."""
    pings = [worker.ping_at for worker in _asked(job) if worker.ping_at is not None]
    notes = [job.start_note_at] if job.start_note_at is not None and _not_joined(job) else []
    return [*pings, *notes, *(limit.at for limit in _limits(job))]


def _limits(job: JobRecord) -> Iterator[_Limit]:
    rules = job.rules
    for worker in job.roster.live:
        if worker.was_ended:
            continue
        if worker.unreachable_since is not None:
            at = worker.unreachable_since + rules.reconnect_seconds
            yield _Limit(worker, at, "lost its control connection")
        if worker.due_at is not None:
            yield _Limit(worker, worker.due_at, _why_overdue(job, worker))
    if job.start_due_at is not None:
        for worker in _not_joined(job):
            why = f"has not joined within {rules.start_timeout_seconds:g} s of the first rank"
            yield _Limit(worker, job.start_due_at, why)


def _why_overdue(job: JobRecord, worker: Worker) -> str:
    if worker.raised:
        return f"raised {worker.raised} and has not exited"
    what = "was not ready" if worker.generation is None else "did not make a step"
    return f"{what} within {job.rules.ready_timeout_seconds:g} s"


def _name_the_late(job: JobRecord, now: float) -> None:
    if job.start_due_at is None:
        return
    left_seconds = max(0.0, job.start_due_at - now)
    for late in _not_joined(job):
        job.note(
            f"{late.node} (rank {late.rank}) has not joined, other ranks wait for it: unless it is "
            f"ready in {left_seconds:.0f} s it is ended and its rank is started anew"
        )


def _not_joined(job: JobRecord) -> list[Worker]:
    """The ranks of the start that are not ready yet; newcomers have a limit of their own."""
    if job.stage is not Stage.STARTING:
        return []
    return [
        worker
        for worker in job.roster.carriers().values()
        if worker.phase < WorkerPhase.READY and worker.due_at is None and not worker.was_ended
    ]


def _asked(job: JobRecord) -> list[Worker]:
    """Those that wait, and those that were silent when they were given a rank."""
    return [
        worker
        for worker in job.roster.live
        if worker.unreachable_since is None and not worker.was_ended and _is_to_answer(worker)
    ]


def _is_to_answer(worker: Worker) -> bool:
    is_silent_member = worker.phase is WorkerPhase.MEMBER and worker.unanswered_pings > 0
    return worker.phase is WorkerPhase.READY or is_silent_member


def _ask(job: JobRecord, worker: Worker, now: float) -> None:
    rules = job.rules
    if worker.unanswered_pings >= rules.unanswered_pings:
        silent_seconds = rules.unanswered_pings * rules.ping_seconds
        job.end_by_itself(worker, f"has not answered for {silent_seconds:g} s")
        return
    worker.unanswered_pings += 1
    worker.ping_at = now + rules.ping_seconds
    job.send(worker, Ping())
