"""The workers of a job: who lives, who carries which rank, who could take one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from paramedic.ingest.contract import NodeName

if TYPE_CHECKING:
    from paramedic.remediation.launchers.local.exit_status import ExitStatus


class WorkerPhase(IntEnum):
    """How far a worker has come; of two spares the further one is taken first."""

    STARTED = 0
    """The process exists and nothing was heard of it."""
    GREETED = 1
    """The trainer library is there and warms up."""
    READY = 2
    """Waits to be assigned."""
    MEMBER = 3
    """Assigned to a generation."""
    FINISHED = 4
    """Left its step loop and will exit by itself."""


@dataclass(slots=True)
class Worker:
    """One process of the user's command, alive as far as is known."""

    node: NodeName
    started_at: float
    rank: int | None
    """The rank that it carries or is to take; None for a spare."""
    phase: WorkerPhase = WorkerPhase.STARTED
    process_id: int | None = None
    """As the worker said in `hello`."""
    generation: int | None = None
    """The newest generation that it was assigned to."""
    rank_since: int | None = None
    """The generation in which it took its rank."""
    was_aborted: bool = False
    """Whether it knows that its generation is over."""
    was_ended: bool = False
    """Whether it was told or made to exit; nothing is assigned to it any more."""
    was_signalled: bool = False
    """Whether a signal was sent to its process while that lived."""
    exit_is_expected: bool = False
    has_committed: bool = False
    """Whether it has ever completed a step."""
    step: int | None = None
    """The newest step that it said it has committed."""
    due_at: float | None = None
    """When it is ended, unless it has said what is waited for; None when nothing is."""
    why_ended: str = ""
    """Why the launcher wanted it to end, for people."""
    raised: str = ""
    """The error that ends its process, as it said itself before it exited."""
    unreachable_since: float | None = None
    ping_at: float | None = None
    """When it is asked next whether it lives; None when it is not asked."""
    unanswered_pings: int = 0

    @property
    def could_join(self) -> bool:
        """Whether it is connected, answers and stays, as far as is known."""
        is_in_reach = self.unreachable_since is None and not self.seems_silent
        return is_in_reach and not (self.was_ended or self.raised)

    @property
    def is_assignable(self) -> bool:
        """Whether it could be told to join a generation now."""
        return self.could_join and self.phase in (WorkerPhase.READY, WorkerPhase.MEMBER)

    @property
    def seems_silent(self) -> bool:
        """Whether it did not answer for longer than one ping can be under way."""
        return self.unanswered_pings > 1

    def was_ended_by_launcher(self, status: ExitStatus) -> bool:
        """Whether this end came of a signal, or of the request to leave the loop."""
        return bool(self.why_ended) and (self.was_signalled or status.is_success)

    @property
    def is_spare(self) -> bool:
        """Whether it carries no rank and could take one."""
        return self.rank is None and not self.was_ended


class Roster:
    """All workers of a job. Names are given once and never again."""

    def __init__(self) -> None:
        self._live: dict[NodeName, Worker] = {}
        self._gone: set[NodeName] = set()

    @property
    def live(self) -> tuple[Worker, ...]:
        """Every worker that has not exited, oldest first."""
        return tuple(self._live.values())

    @property
    def spares(self) -> tuple[Worker, ...]:
        """Those that could take a rank."""
        return tuple(worker for worker in self.live if worker.is_spare)

    def add(self, rank: int | None, now: float) -> Worker:
        """A new worker with the next name."""
        node = NodeName(f"node-{len(self._live) + len(self._gone):04d}")
        worker = Worker(node, started_at=now, rank=rank)
        self._live[node] = worker
        return worker

    def remove(self, node: NodeName) -> Worker | None:
        """The worker exited; None when there was none of that name."""
        worker = self._live.pop(node, None)
        if worker is not None:
            self._gone.add(node)
        return worker

    def find(self, node: NodeName) -> Worker | None:
        """The live worker of that name."""
        return self._live.get(node)

    def has_gone(self, node: NodeName) -> bool:
        """Whether a worker of that name has lived and exited."""
        return node in self._gone

    def carriers(self) -> dict[int, Worker]:
        """Which live worker carries which rank, or is to take it; lowest rank first."""
        by_rank = {worker.rank: worker for worker in self.live if worker.rank is not None}
        return dict(sorted(by_rank.items()))

    def best_spare(self) -> Worker | None:
        """The spare that has come furthest, the oldest among equals."""
        able = [spare for spare in self.spares if spare.could_join]
        return max(able, key=lambda spare: spare.phase, default=None)
