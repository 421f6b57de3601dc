"""Who belongs to a job now: nodes that have left, and the generation of every rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from paramedic.ingest.contract import Event, EventKind, NodeName


@dataclass(frozen=True, slots=True)
class RosterSnapshot:
    """The state of Roster."""

    generation: int = 0
    departed: frozenset[NodeName] = frozenset()
    rank_generations: Mapping[int, int] = field(default_factory=dict)


class Roster:
    """Membership of one job."""

    def __init__(self, snapshot: RosterSnapshot | None = None) -> None:
        state = snapshot or RosterSnapshot()
        self.generation = state.generation
        """The newest generation that telemetry or membership spoke of."""
        self._departed = set(state.departed)
        self._rank_generations = dict(state.rank_generations)

    def snapshot(self) -> RosterSnapshot:
        """A copy of the state."""
        return RosterSnapshot(
            self.generation, frozenset(self._departed), dict(self._rank_generations)
        )

    def live(self, nodes: Iterable[NodeName]) -> list[NodeName]:
        """The nodes that have not left."""
        return [node for node in nodes if node not in self._departed]

    def hear(self, generation: int) -> None:
        """Note that a generation was spoken of."""
        self.generation = max(self.generation, generation)

    def apply(self, event: Event) -> NodeName | None:
        """Take a membership event over; returns the node that has left by it, if any."""
        if event.kind is not EventKind.MEMBERSHIP:
            return None
        self.hear(event.generation or 0)
        change, successor = event.details.get("change"), event.details.get("by")
        if change == "replaced_by" and isinstance(successor, str):
            self._departed.discard(NodeName(successor))
        if change == "joined" and event.node is not None:
            self._departed.discard(event.node)
        if change not in ("left", "replaced_by") or event.node is None:
            return None
        self._departed.add(event.node)
        return event.node

    def is_current(self, rank: int, generation: int) -> bool:
        """Whether the generation of this rank is not over."""
        return generation >= self._rank_generations.get(rank, generation)

    def renew(self, ranks: Iterable[int], generation: int) -> frozenset[int]:
        """Note the generation of ranks; returns those for which it is newer than what was known."""
        ranks = set(ranks)
        newer = frozenset(
            rank for rank in ranks if generation > self._rank_generations.get(rank, generation)
        )
        self._rank_generations.update(dict.fromkeys(ranks, generation))
        return newer
