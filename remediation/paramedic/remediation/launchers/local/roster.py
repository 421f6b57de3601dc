"""The workers of a job: who lives, who carries which rank, who could take one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from paramedic.ingest.contract import NodeName


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
    exit_is_expected: bool = False
    has_committed: bool = False
    """Whether it has ever completed a step."""
    due_at: float | None = None
    """When it is ended, unless it has said what is waited for; None when nothing is."""
    why_ended: str = ""
    """Why the supervisor ended it by itself, for people."""
    unreachable_since: float | None = None

    @property
    def is_assignable(self) -> bool:
        """Whether it could be told to join a generation now."""
        in_reach = self.unreachable_since is None and not self.was_ended
        return in_reach and self.phase in (WorkerPhase.READY, WorkerPhase.MEMBER)

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
        in_reach = [spare for spare in self.spares if spare.unreachable_since is None]
        return max(in_reach, key=lambda spare: spare.phase, default=None)
