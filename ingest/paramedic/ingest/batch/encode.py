"""Writes a telemetry batch as the bytes of layout version 1."""

from __future__ import annotations

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence

from paramedic.ingest.batch.schema import Compression, Layout, ValueType, layout
from paramedic.ingest.contract import ContractError, Entity, Table, TelemetryBatch

_ZLIB_LEVEL = 1
"""Floats hardly shrink further at a higher level, which costs several times as much."""


def encode(batch: TelemetryBatch, compression: Compression = Compression.ZLIB) -> bytes:
    """The batch as one message of the telemetry topic.

    Raises ContractError when the batch breaks the contract: a column of another length than its
    table, indices that are missing or too many, or more bytes than a message may have.
    """
    facts = layout()
    body = _body(batch, facts)
    prefix = facts.magic + bytes((facts.compression_bytes[compression],))
    if compression is Compression.ZLIB:
        return prefix + zlib.compress(body, _ZLIB_LEVEL)
    return prefix + body


def _body(batch: TelemetryBatch, facts: Layout) -> bytes:
    for number, table in enumerate(batch.tables):
        _check(table, f"table {number} of job {batch.job!r}, second {batch.second}")
    header = _header(batch, facts)
    body = b"".join((struct.pack("<I", len(header)), header, *_all_values(batch, facts)))
    if len(header) > facts.header_limit_bytes or len(body) > facts.body_limit_bytes:
        raise ContractError(
            f"batch of job {batch.job!r}, second {batch.second}: header of {len(header)} and body"
            f" of {len(body)} bytes, allowed are {facts.header_limit_bytes} and"
            f" {facts.body_limit_bytes}: publish fewer nodes in a batch"
        )
    return body


def _check(table: Table, where: str) -> None:
    rows = len(table.nodes)
    if (table.indices is None) != (table.entity is Entity.NODE):
        raise ContractError(f"{where}: {table.entity} rows and indices {table.indices!r}")
    if table.indices is not None and len(table.indices) != rows:
        raise ContractError(f"{where}: {rows} nodes and {len(table.indices)} indices")
    for metric, column in table.columns.items():
        if len(column) != rows:
            raise ContractError(f"{where}: {rows} rows, column {metric!r} has {len(column)}")


def _header(batch: TelemetryBatch, facts: Layout) -> bytes:
    header = {
        "generation": batch.generation,
        "job": batch.job,
        "second": batch.second,
        "tables": [_table_header(table, facts) for table in batch.tables],
        "version": facts.version,
    }
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ContractError(f"batch of job {batch.job!r}: a name is not text: {error}") from error


def _table_header(table: Table, facts: Layout) -> dict[str, object]:
    return {
        "columns": [
            {"metric": metric, "type": facts.type_of(metric)} for metric in sorted(table.columns)
        ],
        "entity": table.entity,
        "indices": table.indices,
        "nodes": table.nodes,
    }


def _all_values(batch: TelemetryBatch, facts: Layout) -> Iterator[bytes]:
    for table in batch.tables:
        yield from _values(sorted(table.columns.items()), facts)


def _values(columns: Iterable[tuple[str, Sequence[float]]], facts: Layout) -> Iterator[bytes]:
    for metric, column in columns:
        yield _little_endian(column, facts.type_of(metric))


def _little_endian(column: Sequence[float], value_type: ValueType) -> bytes:
    values = array(value_type.typecode, column)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()
