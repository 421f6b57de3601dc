"""The membership of a job as a pure state machine: what happened in, what is to be done out.

It knows no process, socket or clock. The shell (`supervisor`) tells it what it saw, with the time,
and then does what `take_commands` gives back, in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.ingest.contract import EventKind
from paramedic.remediation.launchers.local import ending, patience, plain_restart, recovery
from paramedic.remediation.launchers.local.commands import Command, MembershipRules, Publish
from paramedic.remediation.launchers.local.job_record import JobRecord, Stage
from paramedic.remediation.launchers.local.messages import (
    Checkpoint,
    Committed,
    Failed,
    Finished,
    FromWorker,
    Hello,
    Pong,
    Raised,
    Ready,
    Replace,
    Store,
)
from paramedic.remediation.launchers.local.replacement import replace
from paramedic.remediation.launchers.local.roster import Worker, WorkerPhase
from paramedic.remediation.launchers.port import Outcome, Placement

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName
    from paramedic.remediation.launchers.local.exit_status import ExitStatus


class Membership:
    """Who is in the job. Times are seconds of one monotonic clock."""

    def __init__(self, rules: MembershipRules) -> None:
        self._job = JobRecord(rules)

    @property
    def stage(self) -> Stage:
        """What the job waits for."""
        return self._job.stage

    @property
    def generation(self) -> int:
        """The newest generation that was handed out."""
        return self._job.generation

    @property
    def finished_ranks(self) -> frozenset[int]:
        """The ranks that have left their step loop."""
        return frozenset(self._job.finished_ranks)

    def has_worker(self, node: NodeName) -> bool:
        """Whether a live worker has this name."""
        return self._job.roster.find(node) is not None

    def take_commands(self) -> tuple[Command, ...]:
        """What is to be done now, in order; each command is given once."""
        commands, self._job.outbox = tuple(self._job.outbox), []
        return commands

    def placements(self) -> tuple[Placement, ...]:
        """Every live worker with its rank."""
        job = self._job
        return tuple(
            Placement(
                worker.node,
                worker.rank,
                worker.process_id,
                job.generation if worker.generation is None else worker.generation,
                worker.step,
            )
            for worker in job.roster.live
        )

    def start(self, now: float) -> None:
        """Start all ranks; spares come when the first worker has said hello."""
        plain_restart.start_all(self._job, now)

    def process_started(self, node: NodeName, process_id: int) -> None:
        """The shell started the process of a worker."""
        worker = self._job.roster.find(node)
        if worker is not None:
            worker.process_id = process_id

    def process_not_started(self, node: NodeName, reason: str, now: float) -> None:
        """The shell could not start the process of a worker."""
        worker = self._job.roster.remove(node)
        if worker is None:
            return
        if worker.rank is None:
            self._spare_gone(worker, now)
        else:
            ending.fail(self._job, f"{node} cannot be started: {reason}", now, worker=worker)
        self._settle(now)

    def exited(
        self, node: NodeName, status: ExitStatus, now: float, *, blames_a_peer: bool = False
    ) -> None:
        """A worker's process ended. All that it had sent before was handed in before.

        `blames_a_peer`: its last words are that the connection to another rank broke.
        """
        worker = self._job.roster.remove(node)
        if worker is None:
            return
        if blames_a_peer and plain_restart.waits_for_the_culprit(self._job, worker, status, now):
            plain_restart.blame_the_first_when_due(self._job, now)
            self._settle(now)
            return
        left_well = worker.phase is WorkerPhase.FINISHED and status.is_success
        is_plain_end = not self._job.has_library and status.is_success
        expected = worker.exit_is_expected or left_well or is_plain_end
        self._job.publish_exit(worker, status, expected=expected)
        if not status.is_success:
            plain_restart.culprit_found(self._job)
        self._after_exit(worker, status, now)
        self._settle(now)

    def ended_before_the_signal(self, node: NodeName) -> None:
        """A signal came too late: the worker's process had already ended by itself."""
        worker = self._job.roster.find(node)
        if worker is not None:
            worker.was_signalled = False
            worker.why_ended = ""

    def heard(self, node: NodeName, message: FromWorker, now: float) -> None:
        """A worker sent a message over its control connection."""
        worker = self._job.roster.find(node)
        if worker is None:
            self._job.note(f"{message.type} from {node}, which is no live worker, was ignored")
            return
        self._take_message(worker, message, now)
        self._settle(now)

    def disconnected(self, node: NodeName, now: float) -> None:
        """A worker's control connection closed; it may come back with a new hello."""
        worker = self._job.roster.find(node)
        if worker is not None and worker.phase is not WorkerPhase.FINISHED:
            worker.unreachable_since = now

    def replace(self, request: Replace) -> Outcome:
        """End the worker of a node, so that its rank moves on; at most once for each verdict."""
        return replace(self._job, request)

    def stop(self, reason: str, now: float) -> None:
        """End the job; a second call ends it at once."""
        plain_restart.culprit_found(self._job)
        ending.stop(self._job, reason, now)

    def fail(self, reason: str, now: float) -> None:
        """End the job because the shell cannot go on."""
        plain_restart.culprit_found(self._job)
        ending.fail(self._job, reason, now)

    def time_passed(self, now: float) -> None:
        """Do what is due."""
        ending.make_the_late_leave(self._job, now)
        recovery.regroup_when_due(self._job, now)
        plain_restart.trains_when_due(self._job, now)
        plain_restart.blame_the_first_when_due(self._job, now)
        patience.do_what_is_due(self._job, now)
        self._settle(now)

    def next_deadline(self) -> float | None:
        """When `time_passed` has something to do, or None."""
        job = self._job
        waits = [job.kill_at, job.regroup_at, job.blame_at, plain_restart.trains_at(job)]
        waits += patience.deadlines(job)
        if self._lacks_spares():
            waits.append(job.spare_not_before)
        return min((wait for wait in waits if wait is not None), default=None)

    def _take_message(self, worker: Worker, message: FromWorker, now: float) -> None:
        job = self._job
        patience.answered(worker)
        match message:
            case Hello():
                self._greeted(worker, message.process_id, now)
            case Ready():
                self._ready(worker, now)
            case Pong():
                return
            case Raised():
                recovery.raised(job, worker, message.error, now)
            case Store():
                recovery.store_is_open(job, worker, message.generation, message.port, now)
            case Failed():
                recovery.collective_failed(
                    job, worker, message.generation, message.reason, message.step, now
                )
            case Committed():
                recovery.committed(job, worker, message.generation, message.step)
            case Checkpoint():
                self._publish_checkpoint(worker, message)
            case Finished():
                self._finished(worker, message.step, now)

    def _greeted(self, worker: Worker, process_id: int, now: float) -> None:
        worker.process_id = process_id
        worker.unreachable_since = None
        worker.phase = max(worker.phase, WorkerPhase.GREETED)
        job = self._job
        if not job.has_library and not worker.was_ended and job.stage is Stage.STARTING:
            job.has_library = True
            job.wants_spares = True
            plain_restart.is_none_after_all(job)
            recovery.fail_if_incomplete(job, now)

    def _ready(self, worker: Worker, now: float) -> None:
        if worker.phase is not WorkerPhase.GREETED:
            self._job.note(f"ready from {worker.node}, which is {worker.phase.name}, was ignored")
            return
        worker.phase = WorkerPhase.READY
        patience.worker_is_ready(self._job, worker, now)
        if worker.is_spare:
            self._job.publish_membership("joined", worker.node, None)

    def _finished(self, worker: Worker, step: int, now: float) -> None:
        job = self._job
        if worker.rank is None or worker.phase is WorkerPhase.FINISHED:
            job.note(f"finished from {worker.node}, which carries no rank now, was ignored")
            return
        worker.phase = WorkerPhase.FINISHED
        worker.due_at = None
        if step >= 0:
            worker.step = step
            job.steps.saw(step)
        job.finished_ranks.add(worker.rank)
        if job.stage is Stage.RECOVERING:
            recovery.finished_too_late(job, worker, now)
        ending.finish_when_all_did(job, now)

    def _publish_checkpoint(self, worker: Worker, message: Checkpoint) -> None:
        details: dict[str, str | int] = {"result": message.result.value, "step": message.step}
        if message.reason:
            details["reason"] = message.reason
        self._job.outbox.append(
            Publish(EventKind.CHECKPOINT, worker.node, worker.rank, message.generation, details)
        )

    def _after_exit(self, worker: Worker, status: ExitStatus, now: float) -> None:
        job = self._job
        if worker.phase is WorkerPhase.FINISHED:
            if not status.is_success:
                ending.record_late_failure(job, worker, status)
        elif job.stage in (Stage.ENDING, Stage.RESTARTING):
            return
        elif worker.rank is None:
            self._spare_gone(worker, now)
        elif job.has_library:
            recovery.rank_lost(job, worker, status, now)
        else:
            plain_restart.rank_exited(job, worker, status, now)

    def _spare_gone(self, worker: Worker, now: float) -> None:
        self._job.publish_membership("left", worker.node, None)
        delay_seconds = self._job.spare_back_off.delay_after(now - worker.started_at)
        self._job.spare_not_before = now + delay_seconds

    def _settle(self, now: float) -> None:
        recovery.form_when_complete(self._job, now)
        plain_restart.start_anew_when_empty(self._job, now)
        ending.tell_when_empty(self._job)
        while self._lacks_spares() and now >= self._job.spare_not_before:
            self._job.start_worker(None, now, told_by_environment=False)

    def _lacks_spares(self) -> bool:
        job = self._job
        in_life = job.stage in (Stage.STARTING, Stage.RUNNING) and not job.finished_ranks
        return in_life and job.wants_spares and len(job.roster.spares) < job.rules.spares
