"""Reads the tables of a batch as metric ids and one block of numbers, in place where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paramedic.ingest.batch.block_columns import BlockColumns
from paramedic.ingest.batch.columns import PackedColumns
from paramedic.ingest.windows.errors import ForeignBatchError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Table


class TableBlock:
    """One table, checked: metric ids, and values as a (metric, row) array.

    Raises ForeignBatchError when a column or the indices do not fit the rows.
    """

    def __init__(self, table: Table) -> None:
        if table.indices is not None and len(table.indices) != len(table.nodes):
            raise ForeignBatchError(
                f"{table.entity} table: {len(table.nodes)} nodes and {len(table.indices)} indices;"
                " every row needs both"
            )
        self.metrics: tuple[str, ...]
        self.values: NDArray[np.floating[Any]]
        if isinstance(table.columns, PackedColumns):
            self.metrics = table.columns.metrics
            self.values = _unpacked(table.columns, len(table.nodes))
        elif isinstance(table.columns, BlockColumns):
            self.metrics = tuple(table.columns)
            self.values = table.columns.block
        else:
            self.metrics = tuple(table.columns)
            self.values = _stacked(table)


def _unpacked(columns: PackedColumns, rows: int) -> NDArray[np.floating[Any]]:
    """The columns of a message, which are known to fit; they may begin at an odd byte."""
    blocks = [np.asarray(numbers).reshape(run.count, rows) for run, numbers in columns.runs()]
    if len(blocks) == 1:
        return blocks[0]
    return np.concatenate([np.zeros((0, rows), np.float32), *blocks])


def _stacked(table: Table) -> NDArray[np.floating[Any]]:
    """As precise as the columns are."""
    rows = len(table.nodes)
    for metric, column in table.columns.items():
        if len(column) != rows:
            raise ForeignBatchError(
                f"{table.entity} table: column {metric!r} has {len(column)} values for {rows}"
                " rows; every row needs one, NaN where nothing was observed"
            )
    values = np.array(list(table.columns.values())).reshape(len(table.columns), rows)
    return values if values.dtype.kind == "f" else values.astype(np.float64)
