"""The golden files: bytes that every writer and every reader of telemetry batches agrees on."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from paramedic.ingest.batch.decode import decode
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.schema import Compression
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.golden"))


def described(name: str) -> TelemetryBatch:
    """The batch that a twin describes; null stands for "not observed"."""
    twin = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    tables = tuple(
        Table(
            entity=Entity(table["entity"]),
            nodes=tuple(NodeName(node) for node in table["nodes"]),
            indices=None if table["indices"] is None else tuple(table["indices"]),
            columns={
                metric: tuple(math.nan if value is None else value for value in column)
                for metric, column in table["columns"].items()
            },
        )
        for table in twin["tables"]
    )
    return TelemetryBatch(JobName(twin["job"]), twin["generation"], twin["second"], tables)


def comparable(batch: TelemetryBatch) -> object:
    """The batch with None for NaN, so that "not observed" equals itself."""
    return (
        batch.job,
        batch.generation,
        batch.second,
        [
            (
                table.entity,
                table.nodes,
                table.indices,
                {
                    metric: [None if math.isnan(value) else value for value in column]
                    for metric, column in table.columns.items()
                },
            )
            for table in batch.tables
        ],
    )


def test_there_are_golden_bytes_for_every_entity() -> None:
    assert NAMES == ["gpu_batch", "node_batch", "rank_batch"]


@pytest.mark.parametrize("name", NAMES)
def test_the_writer_produces_the_golden_bytes(name: str) -> None:
    assert encode(described(name), Compression.NONE) == (GOLDEN / f"{name}.golden").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_the_reader_understands_the_golden_bytes(name: str) -> None:
    batch = decode((GOLDEN / f"{name}.golden").read_bytes())
    assert comparable(batch) == comparable(described(name))


@pytest.mark.parametrize("name", NAMES)
def test_compression_changes_the_bytes_and_not_the_batch(name: str) -> None:
    compressed = encode(described(name), Compression.ZLIB)
    assert compressed != (GOLDEN / f"{name}.golden").read_bytes()
    assert comparable(decode(compressed)) == comparable(described(name))


def test_what_must_keep_every_digit_does() -> None:
    (table,) = decode((GOLDEN / "rank_batch.golden").read_bytes()).tables
    assert tuple(table.columns["step"]) == (2**24 + 1,)
