"""What the membership tells its shell to do, and the rules it decides by. Nothing here acts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from paramedic.remediation.launchers.local.back_off import BackOffRule

if TYPE_CHECKING:
    import signal

    from paramedic.ingest.contract import EventKind, NodeName
    from paramedic.remediation.launchers.local.exit_status import ExitStatus
    from paramedic.remediation.launchers.local.messages import ToWorker


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipRules:
    """How large the job is and how far recovery goes."""

    ranks: int
    spares: int = 1
    max_recoveries_without_progress: int = 3
    """Getting further than ever before between two recoveries starts the count anew."""
    restart_after_seconds: float = 30.0
    """A job without the trainer library counts as training once it has run for this long.

    Only then is it restarted after a failure.
    """
    exit_notice_seconds: float = 3.0
    """How long a survivor's `failed` waits for the exit that explains it."""
    raised_exit_seconds: float = 30.0
    """How long a worker that said `raised` may take to exit before it is made to."""
    ready_timeout_seconds: float = 300.0
    """A spare or newcomer is ended when it needs longer until `ready`, or until its first step.

    The ranks that the job starts with may load for any time, as long as all of them do.
    """
    start_timeout_seconds: float = 120.0
    """How long after the first rank was ready the other ranks of the start may need for that.

    A rank that needs longer is ended, and its rank goes to a spare or to a new worker.
    """
    ping_seconds: float = 2.0
    """How often a worker that waits for its assignment is asked whether it lives."""
    unanswered_pings: int = 5
    """A waiting worker that leaves so many pings in a row unanswered is ended."""
    reconnect_seconds: float = 15.0
    """A worker that has lost its control connection for this long is ended."""
    stop_grace_seconds: float = 5.0
    """Between the request to end and SIGKILL."""
    spare_back_off: BackOffRule = field(
        default_factory=lambda: BackOffRule(longest_seconds=60.0, reset_after_seconds=60.0)
    )

    def __post_init__(self) -> None:
        if self.ranks < 1:
            raise ValueError(f"ranks: {self.ranks} is not a number of ranks, at least 1 is needed")
        if self.spares < 0:
            raise ValueError(f"spares: {self.spares} is below zero")
        if self.max_recoveries_without_progress < 0:
            raise ValueError(
                f"max_recoveries_without_progress: {self.max_recoveries_without_progress} "
                "is below zero; 0 means that no recovery is tried"
            )
        if self.ready_timeout_seconds <= 0:
            raise ValueError(
                f"ready_timeout_seconds: {self.ready_timeout_seconds} is not above zero: "
                "give a new worker time to import what it needs"
            )
        for name in ("start_timeout_seconds", "ping_seconds", "unanswered_pings"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name}: {getattr(self, name)} is not above zero")


class JobEnd(StrEnum):
    """How a job ended."""

    FINISHED = "finished"
    """Every rank came to its end and exited with 0."""
    FAILED = "failed"
    """A rank failed and no recovery was left to try."""
    STOPPED = "stopped"
    """Somebody asked for it to stop."""


@dataclass(frozen=True, slots=True)
class StartWorker:
    """Start one process of the user's command."""

    node: NodeName
    rank: int | None
    """The rank in its environment; None for a spare, which is told its rank by `assign`."""
    generation: int


@dataclass(frozen=True, slots=True)
class SignalWorker:
    """Send a signal to the worker's whole process group."""

    node: NodeName
    signal: signal.Signals


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message over the worker's control connection."""

    node: NodeName
    message: ToWorker


@dataclass(frozen=True, slots=True)
class Publish:
    """Publish an event; the shell adds the time and the job's name."""

    kind: EventKind
    node: NodeName | None = None
    rank: int | None = None
    generation: int | None = None
    details: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobOver:
    """The job is over and no worker of it is left."""

    end: JobEnd
    reason: str
    node: NodeName | None = None
    """The first worker that failed."""
    rank: int | None = None
    status: ExitStatus | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something for the supervisor's own log."""

    text: str


Command = StartWorker | SignalWorker | Send | Publish | JobOver | Note
