"""Any batch that can be written is read back as it was, in the precision of its types."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramedic.ingest.batch.decode import decode
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.schema import Compression, ValueType, layout
from paramedic.ingest.contract import (
    ContractError,
    Entity,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)

unhurried = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
metrics = names | st.sampled_from(["step", "loss", "heartbeat", "gpu_ecc_correctable_total"])
values = st.floats(width=32) | st.floats()


@st.composite
def tables(draw: st.DrawFn) -> Table:
    entity = draw(st.sampled_from(Entity))
    indices = st.just(0) if entity is Entity.NODE else st.integers(0, 2**31 - 1)
    rows = draw(st.lists(st.tuples(names, indices), max_size=5, unique=True))
    column = st.tuples(*(values for _ in rows))
    return Table(
        entity=entity,
        nodes=tuple(NodeName(node) for node, _ in rows),
        indices=None if entity is Entity.NODE else tuple(index for _, index in rows),
        columns=draw(st.dictionaries(metrics, column, max_size=5)),
    )


batches = st.builds(
    TelemetryBatch,
    job=names.map(JobName),
    generation=st.integers(0, 2**32 - 1),
    second=st.integers(0, 253402300799),
    tables=st.lists(tables(), max_size=3).map(tuple),
    shard=st.integers(0, 2),
    shards=st.integers(3, 4096),
) | st.builds(
    TelemetryBatch,
    job=names.map(JobName),
    generation=st.just(0),
    second=st.just(1),
    tables=st.just(()),
)


def kept(metric: str, value: float) -> bytes:
    """The bits of a value after its type's rounding; all NaN are one."""
    if math.isnan(value):
        return b"not observed"
    if layout().type_of(metric) is ValueType.F8:
        return struct.pack("<d", value)
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", math.copysign(math.inf, value))


def bits(table: Table) -> dict[str, list[bytes]]:
    return {
        metric: [kept(metric, value) for value in column]
        for metric, column in table.columns.items()
    }


@unhurried
@given(batch=batches, compression=st.sampled_from(Compression))
def test_what_is_written_is_read_back(batch: TelemetryBatch, compression: Compression) -> None:
    again = decode(encode(batch, compression))
    assert (again.job, again.generation, again.second) == (
        batch.job,
        batch.generation,
        batch.second,
    )
    assert len(again.tables) == len(batch.tables)
    for after, before in zip(again.tables, batch.tables, strict=True):
        assert (after.entity, after.nodes, after.indices) == (
            before.entity,
            before.nodes,
            before.indices,
        )
        assert list(after.columns) == sorted(before.columns)
        assert bits(after) == bits(before)


def one_table(table: Table) -> TelemetryBatch:
    return TelemetryBatch(JobName("job"), 0, 1, (table,))


A, B = NodeName("node-0000"), NodeName("node-0001")


@pytest.mark.parametrize(
    ("batch", "complaint"),
    [
        (one_table(Table(Entity.NODE, (A, B), None, {"load_average": (1.0,)})), "has 2 rows"),
        (one_table(Table(Entity.NODE, (A,), (0,), {})), "indices"),
        (one_table(Table(Entity.RANK, (A,), None, {})), "indices"),
        (one_table(Table(Entity.GPU, (A, B), (0,), {})), "indices"),
        (one_table(Table(Entity.GPU, (A, A), (0, 0), {})), "no row twice"),
        (one_table(Table(Entity.NODE, (NodeName("\ud800"),), None, {})), "nodes"),
        (one_table(Table(Entity.NODE, (A,), None, {"": (1.0,)})), "metric"),
        (TelemetryBatch(JobName(""), 0, 1, ()), "job"),
        (TelemetryBatch(JobName("job"), -1, 1, ()), "generation"),
        (TelemetryBatch(JobName("job"), 0, 2**60, ()), "second"),
    ],
)
def test_a_batch_that_no_reader_would_take_is_not_written(
    batch: TelemetryBatch, complaint: str
) -> None:
    with pytest.raises(ContractError, match=complaint):
        encode(batch)


def test_a_batch_above_the_size_limit_is_not_written() -> None:
    rows = layout().body_limit_bytes // 8 // 200
    column = (0.0,) * rows
    columns = {f"metric_{n}_total": column for n in range(200)}
    table = Table(Entity.GPU, (NodeName("n"),) * rows, tuple(range(rows)), columns)
    with pytest.raises(ContractError, match="publish fewer nodes"):
        encode(one_table(table))
