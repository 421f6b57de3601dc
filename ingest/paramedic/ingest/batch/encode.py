"""Writes a telemetry batch as the bytes of layout version 1."""

from __future__ import annotations

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from paramedic.ingest.batch.header import check_header
from paramedic.ingest.batch.schema import Compression, Layout, ValueType, layout
from paramedic.ingest.contract import ContractError, Table, TelemetryBatch

if TYPE_CHECKING:
    from typing_extensions import Buffer

_ZLIB_LEVEL = 1
"""Floats hardly shrink further at a higher level, which costs several times as much."""


def encode(batch: TelemetryBatch, compression: Compression = Compression.NONE) -> bytes:
    """The batch as one message of the telemetry topic.

    Compressing is the business of Kafka's producer, many messages at once and in its own thread.
    A writer whose way is not compressed may ask for it here.

    Raises ContractError when the batch breaks the contract: a name or number out of its range, a
    column of another length than its table, or more bytes than a message may have.
    """
    facts = layout()
    body = _body(batch, facts)
    prefix = facts.magic + bytes((facts.compression_bytes[compression],))
    if compression is Compression.ZLIB:
        return prefix + zlib.compress(body, _ZLIB_LEVEL)
    return prefix + body


def _body(batch: TelemetryBatch, facts: Layout) -> bytes:
    header = _header(batch, facts)
    body = b"".join((struct.pack("<I", len(header)), header, *_values(batch, facts)))
    if len(header) > facts.header_limit_bytes or len(body) > facts.body_limit_bytes:
        raise ContractError(
            f"batch of job {batch.job!r}, second {batch.second}: header of {len(header)} and body"
            f" of {len(body)} bytes, allowed are {facts.header_limit_bytes} and"
            f" {facts.body_limit_bytes}: publish fewer nodes in a batch"
        )
    return body


def _header(batch: TelemetryBatch, facts: Layout) -> bytes:
    fields: dict[str, object] = {
        "generation": batch.generation,
        "job": batch.job,
        "second": batch.second,
        "tables": [_table_header(table, facts) for table in batch.tables],
        "version": facts.version,
    }
    if (batch.shard, batch.shards) != (0, 1):
        fields |= {"shard": batch.shard, "shards": batch.shards}
    check_header(fields)
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _table_header(table: Table, facts: Layout) -> dict[str, object]:
    return {
        "columns": [
            {"metric": metric, "type": facts.type_of(metric)} for metric in sorted(table.columns)
        ],
        "entity": table.entity,
        "indices": None if table.indices is None else list(table.indices),
        "nodes": list(table.nodes),
    }


def _values(batch: TelemetryBatch, facts: Layout) -> Iterator[bytes]:
    for number, table in enumerate(batch.tables):
        for metric in sorted(table.columns):
            column = table.columns[metric]
            if len(column) != len(table.nodes):
                raise ContractError(
                    f"batch of job {batch.job!r}, second {batch.second}: table {number} has"
                    f" {len(table.nodes)} rows, its column {metric!r} has {len(column)}"
                )
            yield _little_endian(column, facts.type_of(metric))


def _little_endian(column: Sequence[float], value_type: ValueType) -> bytes:
    """The column's bytes; numbers that lie in memory as they are written are copied whole."""
    try:
        view = memoryview(cast("Buffer", column))
    except TypeError:
        values = array(value_type.typecode, column)
    else:
        if sys.byteorder == "little" and view.format == value_type.typecode:
            return view.tobytes()
        values = array(value_type.typecode, view.tolist())
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()
