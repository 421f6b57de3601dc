"""The curves behind evidence: what one machine did, and the band of what its peers did.

Read batch after batch, as a detector reads them; of the peers only a band is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.contract import Entity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName, Table, TelemetryBatch

    Values = NDArray[np.float64]

PRESENCE = ("heartbeat", "telemetry")
"""Metrics whose absence is what they show: a missing row is 0, not a hole."""
_QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)
_MOST_PEERS = 2000
"""Of more, evenly chosen ones stand for all."""
_HOST_FIRST = (Entity.RANK, Entity.GPU, Entity.NODE)
"""Where a metric is looked for."""


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose curves are wanted, and who the peers are."""

    nodes: frozenset[NodeName]
    """Empty for a job as a whole: then all are peers."""
    gpu: int | None = None
    """Only this GPU of them; where it is None, all rows of the nodes, by their median."""
    rank: int | None = None
    peers: frozenset[NodeName] | None = None
    """Whose rows make the band; None: everybody else's."""

    def is_own(self, entity: Entity, node: NodeName, index: int | None) -> bool:
        """Whether a row is of the machine."""
        wanted = {Entity.GPU: self.gpu, Entity.RANK: self.rank}.get(entity)
        return node in self.nodes and wanted in (None, index)

    def is_peer(self, entity: Entity, node: NodeName, index: int | None) -> bool:
        """Whether a row is of a peer."""
        is_role_mate = self.peers is None or node in self.peers or node in self.nodes
        return is_role_mate and not self.is_own(entity, node, index)


@dataclass(frozen=True, slots=True)
class Curve:
    """One metric over some time; NaN where nothing was observed."""

    metric: str
    seconds: NDArray[np.int64]
    machine: Values
    band: Values
    """By quantile (least, 10 %, median, 90 %, largest) and second."""
    peers: int
    """How many there were at most."""


@dataclass(slots=True)
class _Track:
    """What has been read of one metric."""

    own: dict[int, list[Values]] = field(default_factory=dict)
    others: dict[int, list[Values]] = field(default_factory=dict)

    def curve(self, metric: str, seconds: Sequence[int], *, is_of_job: bool) -> Curve:
        machine = np.array([_quantiles(self.own.get(second, []))[2] for second in seconds])
        bands = [_quantiles(self.others.get(second, [])) for second in seconds]
        peers = max((sum(map(len, parts)) for parts in self.others.values()), default=0)
        band = np.array(bands).reshape(-1, len(_QUANTILES)).T
        if metric in PRESENCE:
            who = band if is_of_job else machine
            who[np.isnan(who)] = 0.0
        return Curve(metric, np.array(seconds, np.int64), machine, band, peers)


class CurveReader:
    """Takes batches in; gives the curves of some metrics out."""

    def __init__(self, metrics: Sequence[str], whose: Whose, seconds: range) -> None:
        self._whose = whose
        self._span = seconds
        self._tracks = {metric: _Track() for metric in metrics}
        self._homes: dict[str, Entity] = {}
        self._chosen: dict[Entity, tuple[Table, NDArray[np.intp], NDArray[np.intp]]] = {}
        self._heard: set[int] = set()

    def read(self, batches: Iterable[TelemetryBatch]) -> list[Curve]:
        """All batches; the curves that have anything to show, in the order of the metrics."""
        for batch in batches:
            if batch.second in self._span:
                self._heard.add(batch.second)
                for table in sorted(batch.tables, key=lambda one: _HOST_FIRST.index(one.entity)):
                    self._take(table, batch.second)
        seconds, is_of_job = sorted(self._heard), not self._whose.nodes
        return [
            track.curve(metric, seconds, is_of_job=is_of_job)
            for metric, track in self._tracks.items()
            if track.own or (track.others and (is_of_job or metric in PRESENCE))
        ]

    def _take(self, table: Table, second: int) -> None:
        for metric, track in self._tracks.items():
            column = _column(table, metric)
            if column is None or self._homes.setdefault(metric, table.entity) is not table.entity:
                continue
            own, others = self._rows(table)
            for kept, rows in ((track.own, own), (track.others, others)):
                if rows.size:
                    kept.setdefault(second, []).append(column[rows])

    def _rows(self, table: Table) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Positions of the machine's rows and of its peers' in a table."""
        known = self._chosen.get(table.entity)
        if known is not None and _is_alike(known[0], table):
            return known[1], known[2]
        indices = table.indices or (None,) * len(table.nodes)
        keys = list(zip(table.nodes, indices, strict=True))
        own = [at for at, key in enumerate(keys) if self._whose.is_own(table.entity, *key)]
        others = [at for at, key in enumerate(keys) if self._whose.is_peer(table.entity, *key)]
        thinned = others[:: max(1, -(-len(others) // _MOST_PEERS))]
        chosen = (table, np.array(own, np.intp), np.array(thinned, np.intp))
        self._chosen[table.entity] = chosen
        return chosen[1], chosen[2]


def _column(table: Table, metric: str) -> Values | None:
    if metric == "telemetry":
        return np.ones(len(table.nodes))
    column = table.columns.get(metric)
    if column is None:
        return None
    values = np.asarray(column, np.float64)
    return np.minimum(values, 1.0) if metric in PRESENCE else values  # heart-beats may be numbered


def _is_alike(one: Table, other: Table) -> bool:
    return one.nodes is other.nodes and one.indices is other.indices


def _quantiles(parts: Sequence[Values]) -> Values:
    values = np.concatenate(parts) if parts else np.zeros(0)
    known = values[np.isfinite(values)]
    return np.quantile(known, _QUANTILES) if known.size else np.full(len(_QUANTILES), np.nan)
