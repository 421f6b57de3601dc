"""A launcher that only remembers: the fake that ships with the port. Passes its contract suite."""

from __future__ import annotations

from dataclasses import replace

from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.launchers.port import (
    Capabilities,
    Effect,
    LauncherUnavailableError,
    Outcome,
    Placement,
    Plan,
    ReplaceRank,
)

_FIRST_PROCESS_ID = 1000


class InMemoryLauncher:
    """One job whose recoveries take no time. `applied` lists what was really done."""

    name = "in_memory"
    capabilities = Capabilities(
        can_replace_rank=True,
        can_resize=False,
        has_spares=True,
        can_cordon=False,
        supports_in_process=True,
    )

    def __init__(self, job: JobName, ranks: int, spares: int) -> None:
        self._job = job
        self._generation = 0
        self._started = 0
        self._placements: list[Placement] = []
        self._rank_since: dict[NodeName, int] = {}
        self._keys: set[str] = set()
        self._gone: set[NodeName] = set()
        self.is_reachable = True
        """Set to False to let every call fail as if the launcher were gone."""
        self.applied: list[ReplaceRank] = []
        for rank in (*range(ranks), *[None] * spares):
            self._start(rank)

    def plan(self, request: ReplaceRank) -> Plan:
        """One call."""
        return Plan((f"replace {request.node} of {request.job}: {request.reason}",))

    def apply(self, request: ReplaceRank) -> Outcome:
        """Move the rank to a spare, or to a new node without one."""
        self._reach()
        refusal = self._reason_against(request)
        if refusal is not None:
            return refusal
        self._keys.add(request.idempotency_key)
        self.applied.append(request)
        self._move(request.node)
        return Outcome(Effect.APPLIED, f"{request.node} was replaced")

    def observe(self, job: JobName) -> tuple[Placement, ...]:
        """Every live node; empty for a job that is not here."""
        self._reach()
        return tuple(self._placements) if job == self._job else ()

    def _reach(self) -> None:
        if not self.is_reachable:
            raise LauncherUnavailableError("in-memory launcher: it was set unreachable: try again")

    def _reason_against(self, request: ReplaceRank) -> Outcome | None:
        if request.job != self._job:
            return Outcome(Effect.REFUSED, f"{request.job} does not run here")
        if request.idempotency_key in self._keys:
            return Outcome(Effect.ALREADY_DONE, f"{request.idempotency_key} was applied before")
        if request.node in self._gone:
            return Outcome(Effect.ALREADY_DONE, f"{request.node} has exited")
        if request.node not in self._rank_since:
            return Outcome(Effect.REFUSED, f"{request.node} carries no rank")
        if request.generation > self._generation:
            return Outcome(Effect.REFUSED, f"generation {request.generation} is not there yet")
        if request.generation < self._rank_since[request.node]:
            return Outcome(Effect.ALREADY_DONE, f"{request.node} took its rank later")
        return None

    def _move(self, node: NodeName) -> None:
        self._generation += 1
        dead = next(placement for placement in self._placements if placement.node == node)
        self._gone.add(node)
        if not any(placement.rank is None for placement in self._placements):
            self._start(None)
        spare = next(placement for placement in self._placements if placement.rank is None)
        self._rank_since[spare.node] = self._generation
        self._placements = [
            replace(
                placement,
                generation=self._generation,
                rank=dead.rank if placement is spare else placement.rank,
            )
            for placement in self._placements
            if placement is not dead
        ]

    def _start(self, rank: int | None) -> None:
        node = NodeName(f"node-{self._started:04d}")
        process_id = _FIRST_PROCESS_ID + self._started
        self._started += 1
        self._placements.append(Placement(node, rank, process_id, self._generation))
        if rank is not None:
            self._rank_since[node] = self._generation
