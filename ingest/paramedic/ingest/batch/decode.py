"""Reads telemetry batches; whatever the bytes are, the answer is a batch or a ContractError."""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from collections.abc import Iterator

from paramedic.ingest.batch.header import Header, TableHeader, read_header
from paramedic.ingest.batch.schema import Compression, Layout, ValueType, layout
from paramedic.ingest.contract import ContractError, Table, TelemetryBatch

_LENGTH_BYTES = 4


def decode(payload: bytes) -> TelemetryBatch:
    """The batch in a message of the telemetry topic.

    Raises ContractError, saying what is wrong and where, for anything that is no such message.
    """
    body = _body(memoryview(payload), layout())
    header_end = _header_end(body, layout())
    header = read_header(bytes(body[_LENGTH_BYTES:header_end]))
    values = body[header_end:]
    _check_length(header, len(values))
    tables = tuple(_tables(header, values))
    return TelemetryBatch(header.job, header.generation, header.second, tables)


def _body(payload: memoryview[int], facts: Layout) -> memoryview[int]:
    start = len(facts.magic)
    if payload[:start] != facts.magic:
        raise ContractError(
            f"telemetry batch: starts with {bytes(payload[:start])!r}, expected {facts.magic!r}"
        )
    number = payload[start] if len(payload) > start else None
    if number == facts.compression_bytes[Compression.NONE]:
        body = payload[start + 1 :]
    elif number == facts.compression_bytes[Compression.ZLIB]:
        body = memoryview(_inflate(payload[start + 1 :], facts.body_limit_bytes))
    else:
        raise ContractError(f"telemetry batch: byte {start}: unknown compression {number}")
    if len(body) > facts.body_limit_bytes:
        raise ContractError(
            f"telemetry batch: the body is larger than {facts.body_limit_bytes} bytes"
        )
    return body


def _inflate(compressed: memoryview[int], limit_bytes: int) -> bytes:
    """At most one byte more than the limit, so that a zip bomb costs no more than that."""
    inflater = zlib.decompressobj()
    try:
        body = inflater.decompress(compressed, limit_bytes + 1)
    except zlib.error as error:
        raise ContractError(f"telemetry batch: the body is not zlib: {error}") from error
    if len(body) <= limit_bytes and not inflater.eof:
        raise ContractError(f"telemetry batch: the zlib body ends after {len(compressed)} bytes")
    if inflater.unused_data:
        raise ContractError(
            f"telemetry batch: {len(inflater.unused_data)} bytes follow the zlib body"
        )
    return body


def _header_end(body: memoryview[int], facts: Layout) -> int:
    if len(body) < _LENGTH_BYTES:
        raise ContractError(f"telemetry batch: a body of {len(body)} bytes has no header")
    (length,) = struct.unpack_from("<I", body)
    available = len(body) - _LENGTH_BYTES
    if length > min(available, facts.header_limit_bytes):
        raise ContractError(
            f"telemetry batch: header of {length} bytes, but {available} follow its length and"
            f" {facts.header_limit_bytes} are allowed"
        )
    return _LENGTH_BYTES + int(length)


def _check_length(header: Header, present_bytes: int) -> None:
    expected = sum(
        len(table.nodes) * value_type.width_bytes
        for table in header.tables
        for _, value_type in table.columns
    )
    if present_bytes != expected:
        raise ContractError(
            f"telemetry batch of job {header.job!r}, second {header.second}: the header announces"
            f" {expected} bytes of values, {present_bytes} follow"
        )


def _tables(header: Header, values: memoryview[int]) -> Iterator[Table]:
    offset = 0
    for table in header.tables:
        size = len(table.nodes) * sum(value_type.width_bytes for _, value_type in table.columns)
        columns = _columns(table, values[offset : offset + size])
        yield Table(table.entity, table.nodes, table.indices, columns)
        offset += size


def _columns(table: TableHeader, values: memoryview[int]) -> dict[str, tuple[float, ...]]:
    columns = {}
    offset = 0
    for metric, value_type in table.columns:
        end = offset + len(table.nodes) * value_type.width_bytes
        columns[metric] = tuple(_native(values[offset:end], value_type))
        offset = end
    return columns


def _native(values: memoryview[int], value_type: ValueType) -> memoryview[float]:
    if sys.byteorder == "little":
        return values.cast(value_type.typecode)
    swapped = array(value_type.typecode, values.tobytes())
    swapped.byteswap()
    return memoryview(swapped)
