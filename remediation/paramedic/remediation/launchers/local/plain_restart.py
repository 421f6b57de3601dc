"""Jobs without the trainer library: all processes are ended and started anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.ingest.contract import JobState
from paramedic.remediation.launchers.local import ending
from paramedic.remediation.launchers.local.job_record import JobRecord, Stage

if TYPE_CHECKING:
    from paramedic.remediation.launchers.local.exit_status import ExitStatus
    from paramedic.remediation.launchers.local.roster import Worker


def rank_exited(job: JobRecord, worker: Worker, status: ExitStatus, now: float) -> None:
    """A process of a plain script ended. There is no progress to see, so restarts only add up."""
    job.last_lost = (worker, status)
    if status.is_success and not worker.exit_is_expected:
        if not job.roster.live:
            ending.finish_plain(job)
        return
    what = ending.describe(worker, status)
    ran_seconds = now - job.started_at
    if ran_seconds < job.rules.restart_after_seconds and not worker.exit_is_expected:
        reason = f"{what} after {ran_seconds:.1f} s"
        ending.fail(job, reason, now, worker=worker, status=status)
    elif not job.budget.spend():
        reason = f"{what} and {job.budget.in_vain('restart', 'restarts', 'did not help')}"
        ending.fail(job, reason, now, worker=worker, status=status)
    else:
        _restart(job, now)


def waits_for_the_culprit(job: JobRecord, worker: Worker, status: ExitStatus, now: float) -> bool:
    """Keep an exit back that another one may explain; False when there is no other one."""
    is_victim = job.stage is Stage.STARTING and not (job.has_library or worker.exit_is_expected)
    if not is_victim or not (job.roster.live or job.victims):
        return False
    job.victims.append((worker, status))
    if not job.roster.live:
        job.blame_at = now
    elif job.blame_at is None:
        job.blame_at = now + job.rules.exit_notice_seconds
    return True


def culprit_found(job: JobRecord) -> None:
    """What was kept back is told now: it was the consequence of another exit."""
    victims, job.victims, job.blame_at = job.victims, [], None
    for worker, status in victims:
        worker.raised = "lost the connection to another rank"
        job.publish_exit(worker, status, expected=True)


def blame_the_first_when_due(job: JobRecord, now: float) -> None:
    """Nobody else ended: the one that ended first is the one that is known to have failed."""
    if job.blame_at is None or now < job.blame_at:
        return
    (worker, status), *job.victims = job.victims
    job.publish_exit(worker, status, expected=False)
    culprit_found(job)
    rank_exited(job, worker, status, now)


def start_all(job: JobRecord, now: float) -> None:
    """Start every rank at once."""
    job.started_at = now
    job.stage = Stage.STARTING
    job.is_training = False
    for rank in range(job.rules.ranks):
        job.start_worker(rank, now, told_by_environment=True)
    job.publish_state(JobState.STARTING)


def trains_at(job: JobRecord) -> float | None:
    """When a script without the trainer library counts as training; None when it may not.

    It says nothing, so all that is known is that every process of it lives.
    """
    is_silent = job.stage is Stage.STARTING and not (job.has_library or job.is_training)
    if not is_silent or len(job.roster.carriers()) < job.rules.ranks:
        return None
    return job.started_at + job.rules.restart_after_seconds


def trains_when_due(job: JobRecord, now: float) -> None:
    """All processes have run for a while: say so, and who they are."""
    due_at = trains_at(job)
    if due_at is None or now < due_at:
        return
    job.is_training = True
    for rank, worker in job.roster.carriers().items():
        job.placed[rank] = worker.node
        job.publish_membership("joined", worker.node, rank)
    job.publish_state(JobState.TRAINING)


def is_none_after_all(job: JobRecord) -> None:
    """The first hello came late: what was taken as training was the time before it."""
    if job.is_training:
        job.is_training = False
        job.publish_state(JobState.STARTING)


def start_anew_when_empty(job: JobRecord, now: float) -> None:
    """All processes of the broken start are gone: the next start is a generation of its own."""
    if job.stage is Stage.RESTARTING and not job.roster.live:
        job.kill_at = None
        job.generation += 1
        start_all(job, now)


def _restart(job: JobRecord, now: float) -> None:
    job.stage = Stage.RESTARTING
    job.publish_state(JobState.RECOVERING)
    ending.ask_by_signal(job, now)
    start_anew_when_empty(job, now)
