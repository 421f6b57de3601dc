"""Who is compared with whom: rows of one kind, their metrics and their circles of role peers.

A job is seen in up to five panels: its nodes, its GPUs, its ranks, and each node as the mean of its
GPUs and of its ranks, in which the noise of a single row is smaller.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.contract import Entity, NodeName
from paramedic.models.circles import Circles
from paramedic.models.grouping import Grouping
from paramedic.models.pattern.metric_kinds import (
    ABSENCE,
    FAMILIES,
    MEAN_OF_NODE,
    OF_THE_JOB,
    family_of,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey, Window
    from paramedic.ingest.recordings.description import JobDescription

    Values = NDArray[np.floating]

_FEWEST_NODES = 4
"""Peers of fewer nodes than this are no yardstick; then the circle is wider."""
_LARGEST_VALUE = 1e18
"""Nothing that is measured is larger; what is told larger must not leave single numbers behind."""
_ROLES = ("pipeline_stage", "expert_group")


class PanelKind(StrEnum):
    """What a row of a panel is."""

    NODE = "node"
    GPU = "gpu"
    RANK = "rank"
    GPUS_OF_NODE = "gpus_of_node"
    RANKS_OF_NODE = "ranks_of_node"


PANEL_KINDS = tuple(PanelKind)
_WHOLE = {Entity.GPU: PanelKind.GPUS_OF_NODE, Entity.RANK: PanelKind.RANKS_OF_NODE}


@dataclass(frozen=True)
class Panel:
    """The rows and metrics of one kind, and how they are read from a window."""

    kind: PanelKind
    entity: Entity
    metrics: tuple[str, ...]
    nodes: tuple[NodeName, ...]
    """The node of each row."""
    indices: tuple[int | None, ...]
    circles: Circles
    places: NDArray[np.intp]
    """For each row of the window the panel's row to which it belongs."""
    columns: NDArray[np.intp]
    """Positions of the panel's metrics, but absence, among those of the window."""

    @property
    def shape(self) -> tuple[int, int]:
        """(metrics, rows)."""
        return len(self.metrics), len(self.nodes)

    @property
    def kinds(self) -> NDArray[np.int64]:
        """The number of each metric's kind: panel and family."""
        first = PANEL_KINDS.index(self.kind) * len(FAMILIES)
        return np.array([first + FAMILIES.index(family_of(one)) for one in self.metrics], np.int64)

    @property
    def is_mean(self) -> bool:
        """Whether rows are means over the rows of a node."""
        return self.kind in _WHOLE.values()

    @cached_property
    def _grouping(self) -> Grouping:
        return Grouping.of(self.places, len(self.nodes))

    def read(self, window: Window, slots: slice) -> Values:
        """Values of some slots, (slots, metrics but absence, rows); NaN: not observed."""
        return self.arranged(observed_values(window, slots))

    def arranged(self, values: Values) -> Values:
        """The same from what was observed, which all panels of a kind of row share."""
        if len(self.columns) < values.shape[1]:
            values = values[:, self.columns]
        if self.is_mean:
            values = self._grouping.means(values)
        return np.ascontiguousarray(values.transpose(2, 1, 0))


def observed_values(window: Window, slots: slice) -> Values:
    """Values of some slots as the window has them, (rows, metrics, slots); NaN: not observed."""
    values = window.values[:, :, slots].copy()
    known = np.isfinite(values)
    np.logical_and(known, window.observed[:, :, slots], out=known)
    np.copyto(values, np.nan, where=~known)
    np.maximum(values, -_LARGEST_VALUE, out=values)
    np.minimum(values, _LARGEST_VALUE, out=values)
    return values


KINDS = len(PANEL_KINDS) * len(FAMILIES)


def panels_of(
    windows: Mapping[Entity, Window], description: JobDescription | None, *, use_roles: bool
) -> tuple[Panel, ...]:
    """The panels of a job, always in the same order."""
    roles = _Roles(description if use_roles else None)
    found = []
    for entity in (Entity.NODE, Entity.GPU, Entity.RANK):
        window = windows.get(entity)
        if window is None or not window.rows:
            continue
        found.append(_rows_panel(window, roles))
        if entity in _WHOLE:
            found.append(_nodes_panel(window, roles))
    return tuple(found)


def _columns(window: Window) -> NDArray[np.intp]:
    """Where the metrics stand that say something of a row."""
    return np.array([at for at, one in enumerate(window.metrics) if one not in OF_THE_JOB], np.intp)


def _rows_panel(window: Window, roles: _Roles) -> Panel:
    kind, columns = PanelKind(window.entity.value), _columns(window)
    return Panel(
        kind=kind,
        entity=window.entity,
        metrics=(*(window.metrics[at] for at in columns), ABSENCE + kind),
        nodes=tuple(row.node for row in window.rows),
        indices=tuple(row.index for row in window.rows),
        circles=roles.circles(window.rows),
        places=np.arange(len(window.rows)),
        columns=columns,
    )


def _nodes_panel(window: Window, roles: _Roles) -> Panel:
    nodes = tuple(dict.fromkeys(row.node for row in window.rows))
    at = {node: place for place, node in enumerate(nodes)}
    kind, columns = _WHOLE[window.entity], _columns(window)
    return Panel(
        kind=kind,
        entity=window.entity,
        metrics=(*(MEAN_OF_NODE + window.metrics[at] for at in columns), ABSENCE + kind),
        nodes=nodes,
        indices=(None,) * len(nodes),
        circles=roles.circles_of_nodes(nodes),
        places=np.array([at[row.node] for row in window.rows], np.intp),
        columns=columns,
    )


class _Roles:
    """The roles of a job's rows, as far as they are known."""

    def __init__(self, description: JobDescription | None) -> None:
        self._nodes: dict[NodeName, tuple[Hashable, ...]] = {}
        self._cards: dict[tuple[NodeName, int | None], tuple[Hashable, ...]] = {}
        self._ranks: dict[int | None, tuple[Hashable, ...]] = {}
        if description is None:
            return
        for one in description.nodes:
            self._nodes[one.name] = (one.pipeline_stage, one.expert_group)
        for rank, roles in description.roles_of_ranks():
            key = tuple(roles.get(name) for name in _ROLES)
            self._ranks[rank.rank] = self._cards[rank.node, rank.gpu] = key

    def circles(self, rows: Sequence[EntityKey]) -> Circles:
        """Rows with the same role, as finely as there are peers enough."""
        return _finest([self._of(row) for row in rows], [row.node for row in rows])

    def circles_of_nodes(self, nodes: Sequence[NodeName]) -> Circles:
        """Nodes with the same role."""
        return _finest([self._nodes.get(node, ()) for node in nodes], nodes)

    def _of(self, row: EntityKey) -> tuple[Hashable, ...]:
        nodes = self._nodes.get(row.node, ())
        if row.entity is Entity.RANK:
            return self._ranks.get(row.index, nodes)
        return nodes if row.entity is Entity.NODE else self._cards.get((row.node, row.index), nodes)


def _finest(roles: Sequence[tuple[Hashable, ...]], nodes: Sequence[NodeName]) -> Circles:
    for depth in range(len(_ROLES), 0, -1):
        keys = [role[:depth] for role in roles]
        crews: dict[Hashable, set[NodeName]] = {}
        for key, node in zip(keys, nodes, strict=True):
            crews.setdefault(key, set()).add(node)
        if crews and min(map(len, crews.values())) >= _FEWEST_NODES:
            return Circles.of(keys)
    return Circles.of([()] * len(nodes))
