"""The state that recovery, restart and ending share, with the outbox of what is to be done."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from signal import SIGKILL
from typing import TYPE_CHECKING

from paramedic.ingest.contract import EventKind, JobState, NodeName
from paramedic.remediation.launchers.local.back_off import BackOff
from paramedic.remediation.launchers.local.commands import (
    Command,
    JobOver,
    MembershipRules,
    Note,
    Publish,
    Send,
    SignalWorker,
    StartWorker,
)
from paramedic.remediation.launchers.local.retry_budget import RetryBudget
from paramedic.remediation.launchers.local.roster import Roster, Worker
from paramedic.remediation.launchers.local.step_count import StepCount

if TYPE_CHECKING:
    import signal

    from paramedic.remediation.launchers.local.exit_status import ExitStatus
    from paramedic.remediation.launchers.local.messages import ToWorker


class Stage(StrEnum):
    """What the job as a whole waits for."""

    STARTING = "starting"
    """For all ranks to be ready for their first generation (a plain script stays here)."""
    RUNNING = "running"
    """For nothing: the newest generation has been handed out."""
    RECOVERING = "recovering"
    """For ranks to be filled."""
    RESTARTING = "restarting"
    """For all processes of a plain script to end, so that they can be started anew."""
    ENDING = "ending"
    """For the last processes to end."""
    OVER = "over"


@dataclass(slots=True)
class JobRecord:
    """All that the membership knows. Changed only by the functions of this package."""

    rules: MembershipRules
    stage: Stage = Stage.STARTING
    generation: int = 0
    started_at: float = 0.0
    roster: Roster = field(default_factory=Roster)
    steps: StepCount = field(default_factory=StepCount)
    budget: RetryBudget = field(init=False)
    early_leaves: RetryBudget = field(init=False)
    """Exits with 0 of ranks that had not finished; progress does not make them good."""
    spare_back_off: BackOff = field(init=False)
    outbox: list[Command] = field(default_factory=list)
    placed: dict[int, NodeName] = field(default_factory=dict)
    """Who carried each rank when the newest generation was handed out."""
    finished_ranks: set[int] = field(default_factory=set)
    has_library: bool = False
    """Whether any worker ever said hello."""
    wants_store: bool = False
    """Whether rank 0 still has to say where the store is."""
    wants_spares: bool = False
    is_waiting: bool = False
    """Whether a recovery waits for a worker that was not ready when it was needed."""
    is_training: bool = False
    """Whether every rank has committed a step in the newest generation."""
    applied_keys: set[str] = field(default_factory=set)
    last_lost: tuple[Worker, ExitStatus] | None = None
    """The newest loss of a rank, for the result if it cannot be made good."""
    start_due_at: float | None = None
    """When the ranks of the start have to be ready; None before the first one is."""
    start_note_at: float | None = None
    victims: list[tuple[Worker, ExitStatus]] = field(default_factory=list)
    """Processes of a plain script that ended because a peer had left, oldest first."""
    blame_at: float | None = None
    """When the first of them is blamed, unless another one is found to be the cause."""
    regroup_at: float | None = None
    regroup_reason: str = ""
    spare_not_before: float = 0.0
    kill_at: float | None = None
    stop_was_asked: bool = False
    over: JobOver | None = None
    """The result, once it is decided; told when the last worker has exited."""

    def __post_init__(self) -> None:
        self.budget = RetryBudget(self.rules.max_recoveries_without_progress)
        self.early_leaves = RetryBudget(self.rules.max_recoveries_without_progress)
        self.spare_back_off = BackOff(self.rules.spare_back_off)

    def start_worker(self, rank: int | None, now: float, *, told_by_environment: bool) -> Worker:
        """Add a worker for a rank, or a spare."""
        worker = self.roster.add(rank, now)
        if not told_by_environment:
            worker.due_at = now + self.rules.ready_timeout_seconds
        shown_rank = rank if told_by_environment else None
        self.outbox.append(StartWorker(worker.node, shown_rank, self.generation))
        return worker

    def send(self, worker: Worker, message: ToWorker) -> None:
        """Tell a worker something."""
        self.outbox.append(Send(worker.node, message))

    def signal(self, worker: Worker, number: signal.Signals, why: str) -> None:
        """End a worker's process group, now or at its own pace; the first reason is kept."""
        worker.was_ended = True
        worker.was_signalled = True
        worker.why_ended = worker.why_ended or why
        self.outbox.append(SignalWorker(worker.node, number))

    def end_by_itself(self, worker: Worker, why: str) -> None:
        """End a worker that does not do what is waited for; its exit is a loss like any other."""
        whose = "" if worker.rank is None else f" (rank {worker.rank})"
        self.note(f"{worker.node}{whose} {why} and is ended")
        self.signal(worker, SIGKILL, why)

    def note(self, text: str) -> None:
        """Write to the supervisor's log."""
        self.outbox.append(Note(text))

    def publish_state(self, state: JobState, **details: str | int | bool) -> None:
        """Say what the job as a whole is doing."""
        content = {"state": state.value, **details}
        self.outbox.append(
            Publish(EventKind.JOB_STATE, generation=self.generation, details=content)
        )

    def publish_membership(
        self, change: str, node: NodeName, rank: int | None, **details: str
    ) -> None:
        """Say who joined, left or was replaced."""
        content = {"change": change, **details}
        self.outbox.append(
            Publish(EventKind.MEMBERSHIP, node, rank, self.generation, details=content)
        )

    def publish_exit(self, worker: Worker, status: ExitStatus, *, expected: bool) -> None:
        """Say that a worker's process has ended."""
        how = (
            {"exit_code": status.exit_code}
            if status.signal is None
            else {"signal": int(status.signal)}
        )
        generation = self.generation if worker.generation is None else worker.generation
        details = {**how, "expected": expected, **_told_of(worker, status)}
        self.outbox.append(
            Publish(EventKind.PROCESS_EXIT, worker.node, worker.rank, generation, details)
        )


def _told_of(worker: Worker, status: ExitStatus) -> dict[str, str]:
    """Who ended it and why, where that is known."""
    if worker.was_ended_by_launcher(status):
        return {"ended_by": "launcher", "reason": worker.why_ended}
    return {"reason": worker.raised} if worker.raised else {}
