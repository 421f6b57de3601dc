"""What a job is like, as its telemetry and events tell it: the makings of its `job.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeGuard, TypeVar

from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)
from paramedic.ingest.recordings.description import (
    MOST,
    MOST_GPUS,
    MOST_SAMPLING_SECONDS,
    JobDescription,
    NodeRoles,
    RankRoles,
)

_NODE_NUMBERS = ("pipeline_stage", "data_rank", "expert_group")
_NODE_NAMES = ("switch", "rack")
_RANK_NUMBERS = (*_NODE_NUMBERS, "tensor_rank")
_Indices = tuple[int, ...] | None
_Roles = TypeVar("_Roles", NodeRoles, RankRoles)


class Portrait:
    """Grows with what is heard; for one job."""

    def __init__(self, job: JobName) -> None:
        self._job = job
        self._sampling_seconds = 1.0
        self._nodes: dict[NodeName, NodeRoles] = {}
        self._ranks: dict[int, RankRoles] = {}
        self._seen: dict[Entity, tuple[tuple[NodeName, ...], _Indices]] = {}
        self.version = 0
        """Grows whenever the description changes."""
        self.state: Event | None = None
        """What the job was last said to be doing."""

    def description(self) -> JobDescription:
        """The job as far as it is known."""
        return JobDescription(
            job=self._job,
            sampling_seconds=self._sampling_seconds,
            nodes=tuple(self._nodes[name] for name in sorted(self._nodes)),
            ranks=tuple(self._ranks[rank] for rank in sorted(self._ranks)),
        )

    def see(self, batch: TelemetryBatch) -> None:
        """Take note of the nodes, GPUs and ranks that telemetry speaks of."""
        for table in batch.tables:
            layout = (table.nodes, table.indices)
            known = self._seen.get(table.entity)
            if known is None or known[0] is not layout[0] or known[1] is not layout[1]:
                self._seen[table.entity] = layout
                self._take(table)

    def hear(self, event: Event) -> None:
        """Take note of roles, sizes, cadence and state."""
        if event.kind is EventKind.JOB_STATE:
            self.state = event
            seconds = event.details.get("sampling_seconds")
            if _is_cadence(seconds) and seconds != self._sampling_seconds:
                self._sampling_seconds = float(seconds)
                self.version += 1
        elif event.node is not None and event.details.get("change") == "joined":
            self._join(event.node, event)

    def _take(self, table: Table) -> None:
        gpus: dict[NodeName, int] = {}
        indices = table.indices or (0,) * len(table.nodes)
        for node, index in zip(table.nodes, indices, strict=True):
            self._node(node)
            if table.entity is Entity.GPU:
                gpus[node] = max(gpus.get(node, 0), index + 1)
            elif table.entity is Entity.RANK:
                known = self._ranks.get(index, RankRoles(index, node))
                self._put_rank(replace(known, node=node))
        for node, count in gpus.items():
            self._widen(node, count)

    def _join(self, name: NodeName, event: Event) -> None:
        details = event.details
        self._node(name)
        gpus = details.get("gpus")
        self._widen(name, gpus if isinstance(gpus, int) else 0)
        if event.rank is None:
            told = {**_numbers(details, _NODE_NUMBERS), **_names(details)}
            self._put_node(_with(self._nodes[name], told))
            return
        rank = replace(self._ranks.get(event.rank, RankRoles(event.rank, name)), node=name)
        told = {**_numbers(details, _RANK_NUMBERS)}
        self._put_rank(_with(rank, told if event.gpu is None else {**told, "gpu": event.gpu}))

    def _node(self, name: NodeName) -> None:
        if name not in self._nodes:
            self._put_node(NodeRoles(name, gpus=0))

    def _widen(self, name: NodeName, gpus: int) -> None:
        known = self._nodes[name]
        self._put_node(replace(known, gpus=max(known.gpus, min(gpus, MOST_GPUS))))

    def _put_node(self, node: NodeRoles) -> None:
        if self._nodes.get(node.name) != node:
            self._nodes[node.name] = node
            self.version += 1

    def _put_rank(self, rank: RankRoles) -> None:
        if self._ranks.get(rank.rank) != rank:
            self._ranks[rank.rank] = rank
            self.version += 1


def _with(one: _Roles, told: Mapping[str, int | str]) -> _Roles:
    changed: _Roles = replace(one, **told)  # type: ignore[arg-type]  # the names are its own
    return changed


def _numbers(details: Mapping[str, object], names: tuple[str, ...]) -> dict[str, int | str]:
    """The roles that are told, as far as a recording may tell them."""
    return {
        name: value
        for name in names
        if type(value := details.get(name)) is int and 0 <= value <= MOST
    }


def _is_cadence(seconds: object) -> TypeGuard[float]:
    return isinstance(seconds, int | float) and 0 < seconds <= MOST_SAMPLING_SECONDS


def _names(details: Mapping[str, object]) -> dict[str, int | str]:
    return {name: str(value) for name in _NODE_NAMES if (value := details.get(name)) is not None}
