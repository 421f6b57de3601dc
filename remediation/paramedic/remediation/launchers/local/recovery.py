"""Recovery of a job whose workers carry the trainer library: end a generation, form the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.ingest.contract import JobState
from paramedic.remediation.launchers.local import ending
from paramedic.remediation.launchers.local.job_record import JobRecord, Stage
from paramedic.remediation.launchers.local.messages import Abort, Assign
from paramedic.remediation.launchers.local.roster import Worker, WorkerPhase

if TYPE_CHECKING:
    from paramedic.remediation.launchers.local.exit_status import ExitStatus

STORE_HOST = "127.0.0.1"


def rank_lost(job: JobRecord, worker: Worker, status: ExitStatus, now: float) -> None:
    """A worker that carries a rank exited before it had finished."""
    obstacle = _obstacle(job, worker, status)
    if obstacle is not None:
        what = ending.describe(worker, status)
        ending.fail(job, f"{what} {obstacle}", now, worker=worker, status=status)
        return
    job.last_lost = (worker, status)
    spare = job.roster.best_spare()
    _end_generation(job, waiting=spare is None or not spare.is_assignable)
    _fill(job, worker, spare, now)
    form_when_complete(job, now)


def fail_if_incomplete(job: JobRecord, now: float) -> None:
    """With the first hello: a rank that has left by then would be waited for in vain."""
    if len(job.roster.carriers()) < job.rules.ranks and job.last_lost is not None:
        worker, status = job.last_lost
        what = ending.describe(worker, status)
        ending.fail(job, f"{what} before it said hello", now, worker=worker, status=status)


def finished_too_late(job: JobRecord, worker: Worker, now: float) -> None:
    """A survivor left its loop for good while a rank was being filled: nobody can form anew."""
    lost, status = job.last_lost if job.last_lost is not None else (None, None)
    who = "its generation" if lost is None else f"rank {lost.rank}"
    reason = f"rank {worker.rank} finished while {who} was lost"
    ending.fail(job, reason, now, worker=lost, status=status)


def regroup_when_due(job: JobRecord, now: float) -> None:
    """A collective broke and nobody died in time to explain it: the same members form anew."""
    if job.regroup_at is None or now < job.regroup_at:
        return
    job.regroup_at = None
    reason = f"generation {job.generation} broke with every process alive: {job.regroup_reason}"
    if not job.steps.has_any:
        ending.fail(job, f"{reason}; no step was ever committed", now)
    elif job.finished_ranks:
        who = f"rank {min(job.finished_ranks)} left its loop before the others"
        ending.fail(job, f"{who}, and the generation broke: {job.regroup_reason}", now)
    elif not job.budget.spend():
        ending.fail(job, f"{reason}; {_gave_up(job)}", now)
    else:
        job.note(reason)
        _end_generation(job, waiting=False)
        form_when_complete(job, now)


def form_when_complete(job: JobRecord, now: float) -> None:
    """Hand out a generation as soon as every rank has somebody who can join."""
    if job.stage not in (Stage.STARTING, Stage.RECOVERING):
        return
    carriers = job.roster.carriers()
    if len(carriers) < job.rules.ranks or not all(w.is_assignable for w in carriers.values()):
        return
    is_first = job.stage is Stage.STARTING
    job.generation += 0 if is_first else 1
    job.stage = Stage.RUNNING
    job.is_training = False
    job.steps.start_generation()
    _publish_changes(job, carriers)
    if is_first:
        job.publish_state(JobState.WARMING_UP)
    job.wants_store = True
    _assign(job, carriers[0], None, now)


def store_is_open(job: JobRecord, worker: Worker, generation: int, port: int, now: float) -> None:
    """Rank 0 opened the store: the others may come."""
    is_current = job.stage is Stage.RUNNING and generation == job.generation
    if not (is_current and job.wants_store and worker.rank == 0):
        job.note(f"store of generation {generation} from {worker.node} is out of date")
        return
    job.wants_store = False
    for rank, member in job.roster.carriers().items():
        if rank != 0:
            _assign(job, member, port, now)


def committed(job: JobRecord, worker: Worker, generation: int, step: int) -> None:
    """A worker completed a step of a generation."""
    worker.step = step
    is_current = job.stage is Stage.RUNNING and generation == job.generation
    if not is_current or worker.generation != generation or worker.rank is None:
        _saw_of(job, generation, step)
        return
    worker.has_committed = True
    worker.due_at = None
    if job.steps.committed(worker.rank, step) == job.rules.ranks and not job.is_training:
        _training_goes_on(job)


def collective_failed(
    job: JobRecord, worker: Worker, generation: int, reason: str, step: int | None, now: float
) -> None:
    """A survivor noticed that its generation broke, perhaps before the exit was seen."""
    if step is not None:
        _saw_of(job, generation, step)
    if generation == worker.generation and not worker.raised:
        worker.due_at = None
    is_current = job.stage is Stage.RUNNING and generation == job.generation == worker.generation
    is_news = job.regroup_at is None and not worker.was_ended and not _explains_itself(job)
    if is_current and is_news:
        job.regroup_at = now + job.rules.exit_notice_seconds
        job.regroup_reason = f"{worker.node} says: {reason}"


def raised(job: JobRecord, worker: Worker, error: str, now: float) -> None:
    """An error ends the worker's process: its exit explains the break that survivors tell of.

    It says so before it lets go of the group, but the survivors' words may be read first.
    """
    worker.raised = error
    if worker.phase is not WorkerPhase.FINISHED:
        worker.due_at = now + job.rules.raised_exit_seconds
    if worker.generation == job.generation:
        job.regroup_at = None


def _explains_itself(job: JobRecord) -> bool:
    """Whether a member of the running generation is about to exit."""
    return any(
        worker.raised and worker.generation == job.generation
        for worker in job.roster.carriers().values()
    )


def _saw_of(job: JobRecord, generation: int, step: int) -> None:
    if generation < job.generation:
        job.steps.saw_before(step)
    else:
        job.steps.saw(step)


def _training_goes_on(job: JobRecord) -> None:
    job.is_training = True
    if job.steps.went_further:
        job.budget.made_progress()
    job.wants_spares = True
    lost = {"steps_lost": job.steps.steps_lost} if job.generation else {}
    job.publish_state(JobState.TRAINING, step=job.steps.first_step, **lost)


def _obstacle(job: JobRecord, worker: Worker, status: ExitStatus) -> str | None:
    """Why the rank cannot be filled, or None; takes one recovery from the budget if it can."""
    if job.finished_ranks:
        return _after_others(job)
    is_own_end = not worker.exit_is_expected and not worker.was_ended_by_launcher(status)
    if not job.steps.has_any and is_own_end:
        return "before any rank had committed a step"
    if status.is_success and not worker.exit_is_expected and not job.early_leaves.spend():
        tries = job.early_leaves.in_vain("recovery", "recoveries", "from that did not help")
        return (
            f"without having finished, and {tries}: "
            "let the loop over the steps come to its end, or close it"
        )
    starts_a_recovery = job.stage is not Stage.RECOVERING or worker.generation is None
    if starts_a_recovery and not job.budget.spend():
        return f"and {_gave_up(job)}"
    return None


def _after_others(job: JobRecord) -> str:
    """Steps cannot be done again without those that left; what follows the loop cannot either."""
    if job.steps.newest is None or len(job.finished_ranks) < job.rules.ranks - 1:
        return f"when rank {min(job.finished_ranks)} had already finished"
    return (
        f"when every other rank had finished: step {job.steps.newest} is done, "
        "but what this rank does after its last step may be missing"
    )


def _gave_up(job: JobRecord) -> str:
    return job.budget.in_vain("recovery", "recoveries in a row", "brought no progress")


def _end_generation(job: JobRecord, *, waiting: bool) -> None:
    _say_recovering(job, waiting=waiting)
    job.regroup_at = None
    job.wants_spares = False
    for survivor in job.roster.carriers().values():
        if survivor.generation is not None and not (survivor.was_aborted or survivor.was_ended):
            survivor.was_aborted = True
            survivor.due_at = survivor.due_at if survivor.raised else None
            job.send(survivor, Abort(survivor.generation))


def _say_recovering(job: JobRecord, *, waiting: bool) -> None:
    """Once for each recovery, and again when it turns out that it has to wait."""
    is_new = job.stage is Stage.RUNNING
    if is_new:
        job.stage = Stage.RECOVERING
        job.is_waiting = False
    if is_new or (job.stage is Stage.RECOVERING and waiting and not job.is_waiting):
        job.is_waiting = waiting
        job.publish_state(JobState.RECOVERING, **({"waiting": True} if waiting else {}))


def _fill(job: JobRecord, dead: Worker, spare: Worker | None, now: float) -> None:
    if spare is None:
        spare = job.start_worker(dead.rank, now, told_by_environment=False)
    spare.rank = dead.rank
    job.note(f"{spare.node} takes rank {dead.rank} of {dead.node}")


def _publish_changes(job: JobRecord, carriers: dict[int, Worker]) -> None:
    for rank, worker in carriers.items():
        before = job.placed.get(rank)
        if before is None:
            job.publish_membership("joined", worker.node, rank)
        elif before != worker.node:
            job.publish_membership("replaced_by", before, rank, by=worker.node)
        if worker.rank_since is None:
            worker.rank_since = job.generation
        job.placed[rank] = worker.node


def _assign(job: JobRecord, worker: Worker, store_port: int | None, now: float) -> None:
    if worker.rank is None:
        raise ValueError(f"{worker.node} carries no rank and cannot be assigned")
    worker.generation = job.generation
    worker.phase = WorkerPhase.MEMBER
    worker.was_aborted = False
    if job.generation > 0 and not worker.has_committed:
        worker.due_at = now + job.rules.ready_timeout_seconds
    job.send(
        worker,
        Assign(job.generation, worker.rank, job.rules.ranks, STORE_HOST, store_port),
    )
