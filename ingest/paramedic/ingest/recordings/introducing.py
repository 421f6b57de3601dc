"""Says of each node which roles `job.json` gives it, as a live source would: when it first speaks.

A live run learns roles from `joined` events. A recording whose events have told none of a node by
then gets them from its description.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from paramedic.ingest.contract import Entity, Event, EventKind, NodeName, TelemetryBatch
from paramedic.ingest.recordings.description import JobDescription, RankRoles, roles_of
from paramedic.ingest.recordings.moment import Moment

_Details = dict[str, str | int | float | bool | None]
_TELLING = frozenset(
    ("pipeline_stage", "data_rank", "tensor_rank", "expert_group", "switch", "rack")
)


def introduced(moments: Iterable[Moment], job: JobDescription) -> Iterator[Moment]:
    """The moments, each node's introduction before the first batch that it is in."""
    entries = _Entries(job)
    for moment in moments:
        fact = moment.fact
        if isinstance(fact, Event):
            entries.hear(fact)
        else:
            for event in entries.introductions(fact):
                yield Moment(moment.arrived, event)
        yield moment


class _Entries:
    """What the description says of nodes that have not been introduced yet."""

    def __init__(self, job: JobDescription) -> None:
        self._nodes = {node.name: roles_of(node) for node in job.nodes}
        self._ranks: dict[NodeName, list[tuple[RankRoles, Mapping[str, int | str]]]] = {}
        for rank, roles in job.roles_of_ranks():
            self._ranks.setdefault(rank.node, []).append((rank, roles))
        self._unknown = {
            name
            for name in (*self._nodes, *self._ranks)
            if self._nodes.get(name) or any(roles for _, roles in self._ranks.get(name, ()))
        }
        self._heard: dict[Entity, tuple[NodeName, ...]] = {}

    def hear(self, event: Event) -> None:
        """An event that tells roles introduces its node."""
        if event.node is not None and not _TELLING.isdisjoint(event.details):
            self._unknown.discard(event.node)

    def introductions(self, batch: TelemetryBatch) -> Iterator[Event]:
        """An event for each node that speaks for the first time, then one for each rank of it."""
        for table in batch.tables:
            if not self._unknown or self._heard.get(table.entity) is table.nodes:
                continue
            self._heard[table.entity] = table.nodes
            newcomers = sorted(self._unknown.intersection(table.nodes))
            self._unknown.difference_update(newcomers)
            for name in newcomers:
                yield from self._introduce(name, batch)

    def _introduce(self, name: NodeName, batch: TelemetryBatch) -> Iterator[Event]:
        if own := self._nodes.get(name):
            yield _joined(batch, name, {**own})
        for rank, roles in self._ranks.get(name, ()):
            if roles:
                yield _joined(batch, name, {**roles}, rank.gpu, rank.rank)


def _joined(
    batch: TelemetryBatch,
    node: NodeName,
    roles: _Details,
    gpu: int | None = None,
    rank: int | None = None,
) -> Event:
    return Event(
        timestamp=datetime.fromtimestamp(batch.second, UTC),
        kind=EventKind.MEMBERSHIP,
        job=batch.job,
        node=node,
        gpu=gpu,
        rank=rank,
        generation=batch.generation,
        details={"change": "joined", **roles},
    )
