"""Who belongs to a job now: nodes that have left, and how new each rank and its node are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from paramedic.ingest.contract import Event, EventKind, NodeName

Party = NodeName | int | None
"""A node by its name, or a rank by its number: what a rank row is named by."""


@dataclass(frozen=True, slots=True)
class RosterSnapshot:
    """The state of Roster."""

    generation: int = 0
    departed: frozenset[NodeName] = frozenset()
    generations: Mapping[Party, int] = field(default_factory=dict)


class Roster:
    """Membership of one job."""

    def __init__(self, snapshot: RosterSnapshot | None = None) -> None:
        state = snapshot or RosterSnapshot()
        self.generation = state.generation
        """The newest generation that telemetry or membership spoke of."""
        self.departures = 0
        """Grows whenever nodes leave or come back."""
        self.renewals = 0
        """Grows whenever ranks or nodes are heard of in a newer generation, or for the first
        time."""
        self._departed = set(state.departed)
        self._generations = dict(state.generations)

    def snapshot(self) -> RosterSnapshot:
        """A copy of the state."""
        return RosterSnapshot(self.generation, frozenset(self._departed), dict(self._generations))

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
        self.departures += 1
        if change == "replaced_by" and isinstance(successor, str):
            self._departed.discard(NodeName(successor))
        if change == "joined" and event.node is not None:
            self._departed.discard(event.node)
        if change not in ("left", "replaced_by") or event.node is None:
            return None
        self._departed.add(event.node)
        return event.node

    def is_current(self, row: Iterable[Party], generation: int) -> bool:
        """Whether neither the rank nor its node has been seen in a newer generation."""
        return all(generation >= self._generations.get(party, generation) for party in row)

    def renew(self, rows: Iterable[Iterable[Party]], generation: int) -> frozenset[Party]:
        """Note the generation of rank rows.

        Returns the nodes and ranks for which it is newer than what was known.
        """
        parties = {party for row in rows for party in row}
        newer = frozenset(
            party for party in parties if generation > self._generations.get(party, generation)
        )
        if newer or not self._generations.keys() >= parties:
            self.renewals += 1
        self._generations.update(dict.fromkeys(parties, generation))
        return newer
