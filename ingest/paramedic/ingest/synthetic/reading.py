"""One second as the cluster's sensors say it, in canonical ids; the truth that exporters print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from paramedic.ingest.contract import Entity, Event, JobName, Table, TelemetryBatch
from paramedic.ingest.synthetic.arrays import Booleans, Floats, Integers
from paramedic.ingest.synthetic.counters import Counters
from paramedic.ingest.synthetic.layout import Layout

AGENT_ONLY = ("process_resident_bytes", "network_round_trip_seconds")
"""Node metrics that no page of an exporter carries; recordings have them."""


@dataclass(frozen=True, slots=True)
class Spike:
    """A value that an exporter prints although it cannot be; a cleaner leaves it out."""

    metric: str
    node: int
    gpu: int
    printed: float


@dataclass(frozen=True, slots=True)
class Sight:
    """What can be seen of each node in this second; (nodes,)."""

    gpu_page: Booleans
    """Whether the GPU exporter answers."""
    node_page: Booleans
    ranks: Booleans
    """Whether the trainers' telemetry arrives."""
    clock_offset_seconds: Floats


@dataclass(frozen=True, slots=True)
class Second:
    """Everything about one second. GPU and rank arrays (nodes, gpus), node arrays (nodes,)."""

    job: JobName
    layout: Layout
    offset: int
    """Seconds since the job's start."""
    second: int
    """Unix second, UTC."""
    gpu: Mapping[str, Floats]
    """NaN where an impossible value was printed."""
    node: Mapping[str, Floats]
    rank: Mapping[str, Floats]
    """Empty while the job starts."""
    counters: Counters
    is_present: Booleans
    """Which cards are on the bus; (nodes, gpus)."""
    has_process: Booleans
    """Which ranks run; (nodes, gpus)."""
    sight: Sight
    spikes: tuple[Spike, ...]
    events: tuple[Event, ...]

    def tables(self) -> tuple[Table, ...]:
        """The rows that can be seen."""
        cards = self.is_present & self.sight.gpu_page[:, None]
        ranks = self.has_process & self.sight.ranks[:, None]
        index: Integers = np.broadcast_to(np.arange(cards.shape[1]), cards.shape)
        tables = (
            self._node_table(),
            self._table(Entity.GPU, self.gpu, cards, index),
            self._table(Entity.RANK, self.rank, ranks, self.layout.rank),
        )
        return tuple(table for table in tables if table.columns and table.nodes)

    def batch(self) -> TelemetryBatch:
        """The rows as one message."""
        return TelemetryBatch(self.job, 0, self.second, self.tables())

    def _node_table(self) -> Table:
        seen = self.sight.node_page
        names = self.layout.nodes
        return Table(
            Entity.NODE,
            tuple(names[n] for n in np.flatnonzero(seen).tolist()),
            None,
            {metric: tuple(column[seen].tolist()) for metric, column in self.node.items()},
        )

    def _table(
        self, entity: Entity, columns: Mapping[str, Floats], seen: Booleans, index: Integers
    ) -> Table:
        names = self.layout.nodes
        return Table(
            entity,
            tuple(names[n] for n in np.nonzero(seen)[0].tolist()),
            tuple(index[seen].tolist()),
            {metric: tuple(column[seen].tolist()) for metric, column in columns.items()},
        )
