"""Takes rows out of batches: what machines under maintenance show is nobody's evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from paramedic.ingest.contract import NodeName, Table, TelemetryBatch


def without_nodes(batch: TelemetryBatch, nodes: Collection[NodeName]) -> TelemetryBatch:
    """The batch without the rows of these nodes; the batch itself where it has none of them."""
    if not nodes:
        return batch
    return replace(batch, tables=tuple(_without(table, nodes) for table in batch.tables))


def _without(table: Table, nodes: Collection[NodeName]) -> Table:
    kept = [at for at, node in enumerate(table.nodes) if node not in nodes]
    if len(kept) == len(table.nodes) or not _holds_together(table):
        return table
    return replace(
        table,
        nodes=tuple(table.nodes[at] for at in kept),
        indices=None if table.indices is None else tuple(table.indices[at] for at in kept),
        columns={
            metric: np.asarray(column, dtype=np.float64)[kept].tolist()
            for metric, column in table.columns.items()
        },
    )


def _holds_together(table: Table) -> bool:
    """Whether every column has a value a row; whoever takes the batch in refuses the others."""
    columns = list(table.columns.values())
    columns += [] if table.indices is None else [table.indices]
    return all(len(column) == len(table.nodes) for column in columns)
