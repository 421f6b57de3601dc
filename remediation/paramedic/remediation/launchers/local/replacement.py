"""The answer to `replace`: whether the worker of a node is ended because a verdict says so.

Nobody is ended twice for one verdict: a key is applied once, node names are never reused, and a
node is left alone when it took its rank after the generation in which the fault was seen.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from paramedic.remediation.launchers.local.job_record import JobRecord, Stage
from paramedic.remediation.launchers.local.roster import Worker, WorkerPhase
from paramedic.remediation.launchers.port import Effect, Outcome

if TYPE_CHECKING:
    from paramedic.remediation.launchers.local.messages import Replace


def replace(job: JobRecord, request: Replace) -> Outcome:
    """End the worker and say so, or say why not. Its exit starts the recovery."""
    worker = job.roster.find(request.node)
    if request.idempotency_key in job.applied_keys:
        return Outcome(Effect.ALREADY_DONE, f"{request.idempotency_key} was applied before")
    if job.stage in (Stage.ENDING, Stage.OVER):
        return Outcome(Effect.REFUSED, "the job is ending")
    if worker is None:
        return _absent(job, request)
    refusal = _reason_against(job, worker, request)
    if refusal is not None:
        return refusal
    job.applied_keys.add(request.idempotency_key)
    worker.exit_is_expected = True
    job.signal(worker, signal.SIGKILL, request.reason)
    return Outcome(Effect.APPLIED, f"{worker.node} is ended, rank {worker.rank} moves on")


def _absent(job: JobRecord, request: Replace) -> Outcome:
    if job.roster.has_gone(request.node):
        return Outcome(Effect.ALREADY_DONE, f"{request.node} has exited")
    return Outcome(Effect.REFUSED, f"{request.node} is no node of this job")


def _reason_against(job: JobRecord, worker: Worker, request: Replace) -> Outcome | None:
    if worker.was_ended:
        return Outcome(Effect.ALREADY_DONE, f"{worker.node} is being ended")
    if worker.rank is None:
        return Outcome(Effect.REFUSED, f"{worker.node} is a spare and carries no rank")
    if worker.phase is WorkerPhase.FINISHED:
        return Outcome(Effect.REFUSED, f"{worker.node} has finished")
    if request.generation > job.generation:
        reason = f"generation {request.generation} is not there yet, this is {job.generation}"
        return Outcome(Effect.REFUSED, reason)
    if worker.rank_since is not None and request.generation < worker.rank_since:
        reason = f"{worker.node} took its rank in generation {worker.rank_since}, later than that"
        return Outcome(Effect.ALREADY_DONE, reason)
    return None
