"""Reads the tables of a batch as named rows and one block of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.windows.errors import ForeignBatchError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Entity, Table
    from paramedic.ingest.windows.slots import RowName


class TableBlock:
    """One table, checked: row names, metric ids, and values as a (metric, row) array.

    Raises ForeignBatchError when a column or the indices do not fit the rows.
    """

    def __init__(self, table: Table) -> None:
        self.entity: Entity = table.entity
        self.rows: list[RowName] = _rows(table)
        self.metrics: tuple[str, ...] = tuple(table.columns)
        self.values: NDArray[np.float64] = _values(table)


def _rows(table: Table) -> list[RowName]:
    indices = [None] * len(table.nodes) if table.indices is None else table.indices
    if len(indices) != len(table.nodes):
        raise ForeignBatchError(
            f"{table.entity} table: {len(table.nodes)} nodes and {len(indices)} indices;"
            " every row needs both"
        )
    return list(zip(table.nodes, indices, strict=True))


def _values(table: Table) -> NDArray[np.float64]:
    rows = len(table.nodes)
    for metric, column in table.columns.items():
        if len(column) != rows:
            raise ForeignBatchError(
                f"{table.entity} table: column {metric!r} has {len(column)} values for {rows}"
                " rows; every row needs one, NaN where nothing was observed"
            )
    return np.array(list(table.columns.values()), np.float64).reshape(len(table.columns), rows)
