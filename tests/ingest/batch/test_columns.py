"""Columns are looked at where they lie in the message."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from paramedic.ingest.batch.columns import PackedColumns
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.schema import Compression
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch

NODES = (NodeName("a"), NodeName("b"))


def read_back(columns: dict[str, object]) -> PackedColumns:
    """The columns of a rank table after a way over the wire."""
    table = Table(Entity.RANK, NODES, (0, 1), columns)  # type: ignore[arg-type]
    batch = TelemetryBatch(JobName("job"), 0, 1, (table,))
    (again,) = decode(encode(batch, Compression.NONE)).tables
    assert isinstance(again.columns, PackedColumns)
    return again.columns


def test_a_column_is_a_view_that_numpy_takes_without_copying() -> None:
    column = read_back({"load_average": (1.0, 2.0)})["load_average"]
    assert isinstance(column, memoryview)
    taken = np.asarray(column)
    assert taken.tolist() == list(column) == [1.0, 2.0]
    assert np.shares_memory(taken, np.asarray(column))


def test_columns_are_a_mapping_in_the_order_of_their_metrics() -> None:
    columns = read_back({"step": (1.0, 2.0), "loss": (3.0, 4.0)})
    assert [*columns] == ["loss", "step"]
    assert {metric: tuple(column) for metric, column in columns.items()} == {
        "loss": (3.0, 4.0),
        "step": (1.0, 2.0),
    }
    assert "heartbeat" not in columns
    with pytest.raises(KeyError):
        columns["heartbeat"]


def test_neighbouring_columns_of_one_type_are_one_run() -> None:
    columns = read_back(
        {"a_watts": (1.0, 2.0), "b_watts": (3.0, 4.0), "loss": (5.0, 6.0), "z_watts": (7.0, 8.0)}
    )
    runs = [(run.first, run.count, list(numbers)) for run, numbers in columns.runs()]
    assert runs == [(0, 2, [1.0, 2.0, 3.0, 4.0]), (2, 1, [5.0, 6.0]), (3, 1, [7.0, 8.0])]


@pytest.mark.parametrize(
    "column",
    [
        (0.1, 7.0),
        array("f", [0.1, 7.0]),
        array("d", [0.1, 7.0]),
        np.array([0.1, 7.0]),
        np.array([0.1, 7.0], np.float32),
        np.array([0.1, 9.0, 7.0, 9.0], np.float32)[::2],
    ],
    ids=["tuple", "array of f4", "array of f8", "numpy f8", "numpy f4", "strided"],
)
@pytest.mark.parametrize("metric", ["loss", "gpu_power_watts"])
def test_numbers_are_written_alike_whatever_holds_them(metric: str, column: object) -> None:
    written = list(read_back({metric: column})[metric])
    if metric == "loss" and not isinstance(column, tuple) and memoryview(column).format == "f":  # type: ignore[arg-type]
        assert written == [float(np.float32(0.1)), 7.0]
    else:
        expected = np.array([0.1, 7.0], np.float64 if metric == "loss" else np.float32)
        assert written == expected.tolist()
