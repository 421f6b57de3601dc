"""Columns that are one block: the same to whoever asks for a metric, and taken whole by windows."""

from __future__ import annotations

import numpy as np
import pytest

from paramedic.ingest.batch.block_columns import BlockColumns
from paramedic.ingest.contract import Entity, NodeName, Table
from paramedic.ingest.windows.tables import TableBlock

PLACES = {"step": 0, "loss": 1}


def block() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """A stretch of the rows of a longer recording."""
    return np.arange(20.0).reshape(2, 10)[:, 4:7]


def test_a_metric_gives_its_numbers_as_python_has_them() -> None:
    columns = BlockColumns(PLACES, block())
    assert {metric: list(column) for metric, column in columns.items()} == {
        "step": [4.0, 5.0, 6.0],
        "loss": [14.0, 15.0, 16.0],
    }
    assert type(columns["loss"][0]) is float
    assert (len(columns), list(columns), "pace" in columns) == (2, ["step", "loss"], False)
    with pytest.raises(KeyError):
        columns["pace"]


def test_windows_take_the_block_as_it_lies_there() -> None:
    numbers = block()
    nodes = (NodeName("a"), NodeName("b"), NodeName("c"))
    taken = TableBlock(Table(Entity.RANK, nodes, (0, 1, 2), BlockColumns(PLACES, numbers)))
    assert taken.metrics == ("step", "loss")
    assert taken.values is numbers
