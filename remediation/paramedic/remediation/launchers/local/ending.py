"""The end of a job: everybody is asked to leave, then made to, then the result is told."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from paramedic.ingest.contract import JobState
from paramedic.remediation.launchers.local.commands import JobEnd, JobOver
from paramedic.remediation.launchers.local.job_record import JobRecord, Stage
from paramedic.remediation.launchers.local.messages import Abort, Stop
from paramedic.remediation.launchers.local.roster import Worker, WorkerPhase

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paramedic.remediation.launchers.local.exit_status import ExitStatus


def fail(
    job: JobRecord,
    reason: str,
    now: float,
    *,
    worker: Worker | None = None,
    status: ExitStatus | None = None,
) -> None:
    """No recovery is left: end the others, keep the first failure as the result."""
    if job.stage in (Stage.ENDING, Stage.OVER):
        return
    _decide(job, job.over or _failure(reason, worker, status))
    _ask_to_leave(job, job.roster.live, now)
    tell_when_empty(job)


def finish_when_all_did(job: JobRecord, now: float) -> None:
    """When every rank left its loop the spares go; the ranks exit by themselves, in their time."""
    is_alive = job.stage in (Stage.STARTING, Stage.RUNNING)
    if not is_alive or len(job.finished_ranks) < job.rules.ranks:
        return
    decided = job.over or JobOver(JobEnd.FINISHED, "every rank finished")
    _decide(job, decided)
    _ask_to_leave(job, job.roster.spares, now)


def finish_plain(job: JobRecord) -> None:
    """Every process of a plain script exited with 0."""
    _decide(job, JobOver(JobEnd.FINISHED, "every rank exited with 0"))


def stop(job: JobRecord, reason: str, now: float) -> None:
    """Somebody wants the job to end; asked a second time, it ends at once."""
    if job.stop_was_asked:
        _kill(job, job.roster.live)
    elif job.stage is not Stage.OVER:
        job.stop_was_asked = True
        failed = job.over if job.over is not None and job.over.end is JobEnd.FAILED else None
        _decide(job, failed or JobOver(JobEnd.STOPPED, reason))
        _ask_to_leave(job, job.roster.live, now)
        tell_when_empty(job)


def ask_by_signal(job: JobRecord, now: float) -> None:
    """End a plain script's processes, so that they can be started anew."""
    for worker in job.roster.live:
        worker.exit_is_expected = True
        job.signal(worker, signal.SIGTERM, "all processes are started anew")
    job.kill_at = now + job.rules.stop_grace_seconds


def make_the_late_leave(job: JobRecord, now: float) -> None:
    """SIGKILL for those that were asked and did not go."""
    if job.kill_at is None or now < job.kill_at:
        return
    job.kill_at = None
    _kill(job, [worker for worker in job.roster.live if worker.exit_is_expected])


def record_late_failure(job: JobRecord, worker: Worker, status: ExitStatus) -> None:
    """A worker failed after its last step: nothing is repeated, but the job did not end well."""
    if job.over is None or job.over.end is JobEnd.FINISHED:
        reason = f"{describe(worker, status)} after its last step"
        job.over = _failure(reason, worker, status)


def tell_when_empty(job: JobRecord) -> None:
    """Tell the result when the last worker has exited."""
    if job.stage is not Stage.ENDING or job.roster.live or job.over is None:
        return
    job.stage = Stage.OVER
    newest = {} if job.steps.newest is None else {"step": job.steps.newest}
    told: dict[str, str | int] = {"result": job.over.end.value, "reason": job.over.reason}
    job.publish_state(JobState.FINISHED, **told, **newest)
    job.outbox.append(job.over)


def describe(worker: Worker, status: ExitStatus) -> str:
    """A worker and its end, for people.

    Such as `node-0002 (rank 2) was ended by SIGKILL`.
    """
    who = "a spare" if worker.rank is None else f"rank {worker.rank}"
    reason = worker.why_ended if worker.was_ended_by_launcher(status) else worker.raised
    why = f" ({reason})" if reason else ""
    return f"{worker.node} ({who}) {status}{why}"


def _decide(job: JobRecord, over: JobOver) -> None:
    job.stage = Stage.ENDING
    job.over = over
    job.regroup_at = None
    job.wants_spares = False


def _failure(reason: str, worker: Worker | None, status: ExitStatus | None) -> JobOver:
    if worker is None:
        return JobOver(JobEnd.FAILED, reason, status=status)
    return JobOver(JobEnd.FAILED, reason, worker.node, worker.rank, status)


def _ask_to_leave(job: JobRecord, workers: Iterable[Worker], now: float) -> None:
    not_yet_asked = [worker for worker in workers if not worker.was_ended]
    for worker in not_yet_asked:
        worker.exit_is_expected = True
        _ask_one(job, worker)
    if not_yet_asked:
        job.kill_at = now + job.rules.stop_grace_seconds


def _ask_one(job: JobRecord, worker: Worker) -> None:
    has_library = worker.phase is not WorkerPhase.STARTED and worker.unreachable_since is None
    in_its_loop = has_library and worker.phase is not WorkerPhase.FINISHED
    worker.why_ended = worker.why_ended or _why(job)
    if not in_its_loop:
        job.signal(worker, signal.SIGTERM, worker.why_ended)
        return
    if worker.generation is not None and not worker.was_aborted:
        worker.was_aborted = True
        job.send(worker, Abort(worker.generation))
    worker.was_ended = True
    job.send(worker, Stop())


def _kill(job: JobRecord, workers: Iterable[Worker]) -> None:
    for worker in workers:
        job.signal(worker, signal.SIGKILL, _why(job))


def _why(job: JobRecord) -> str:
    return "its job does not go on" if job.over is None else f"its job has {job.over.end.value}"
