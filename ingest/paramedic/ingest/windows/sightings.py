"""The frontier: when each node and each rank's heart-beat was last seen, without any lateness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from paramedic.ingest.contract import Entity, EntityKey, NodeName

RankRow = tuple[NodeName, int]
"""A rank on the node that carries it."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """The newest second that something was seen in, and when the news arrived."""

    second: int
    """Event time, Unix seconds, after re-basing."""
    arrived_seconds: float
    generation: int
    """The generation the sighting belongs to; that of the job for a node."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """What has been seen of a job so far. Silence is judged here, not on windows."""

    head_second: int | None
    """The newest second that half of the live nodes have reached."""
    nodes: Mapping[NodeName, Sighting]
    """Live nodes, seen in any table."""
    heartbeats: Mapping[EntityKey, Sighting]
    """Ranks that have sent a `heartbeat` at least once and whose node has not left."""


class HeartbeatBook:
    """Last heart-beat of every rank row."""

    def __init__(self, seen: Mapping[RankRow, Sighting] | None = None) -> None:
        self._seen: dict[RankRow, Sighting] = dict(seen or {})

    def note(self, row: RankRow, sighting: Sighting) -> None:
        """Keep the newer of what is known and what was seen now."""
        known = self._seen.get(row)
        if known is None or (sighting.generation, sighting.second) > (
            known.generation,
            known.second,
        ):
            self._seen[row] = sighting

    def forget(self, gone: Callable[[RankRow], bool]) -> None:
        """Let go of the rows that the predicate names."""
        self._seen = {row: seen for row, seen in self._seen.items() if not gone(row)}

    def heartbeats(self) -> dict[EntityKey, Sighting]:
        """All rows, as keys of windows, sorted."""
        return {
            EntityKey(Entity.RANK, node, rank): seen
            for (node, rank), seen in sorted(self._seen.items())
        }

    def snapshot(self) -> dict[RankRow, Sighting]:
        """A copy for a new book."""
        return dict(self._seen)
