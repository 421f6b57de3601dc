"""Reads telemetry batches; whatever the bytes are, the answer is a batch or a ContractError."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from paramedic.ingest.batch.columns import PackedColumns
from paramedic.ingest.batch.header import Header
from paramedic.ingest.batch.header_cache import HeaderCache
from paramedic.ingest.batch.schema import Compression, Layout, layout
from paramedic.ingest.contract import ContractError, Table, TelemetryBatch

_LENGTH_BYTES = 4
_HEADERS = HeaderCache()
"""One for the whole process: what it answers does not depend on what was read before."""


def decode(payload: bytes, headers: HeaderCache = _HEADERS) -> TelemetryBatch:
    """The batch in a message of the telemetry topic.

    Its columns are views of the payload (PackedColumns), and as long as a sender's header stays,
    so do the tuples of nodes and indices: they are the same objects.

    Raises ContractError, saying what is wrong and where, for anything that is no such message.
    """
    body = _body(memoryview(payload), layout())
    header_end = _header_end(body, layout())
    header = headers.read(bytes(body[_LENGTH_BYTES:header_end]))
    values = body[header_end:]
    _check_length(header, len(values))
    tables = tuple(_tables(header, values))
    return TelemetryBatch(
        header.job, header.generation, header.second, tables, header.shard, header.shards
    )


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
    expected = sum(table.layout.size_bytes for table in header.tables)
    if present_bytes != expected:
        raise ContractError(
            f"telemetry batch of job {header.job!r}, second {header.second}: the header announces"
            f" {expected} bytes of values, {present_bytes} follow"
        )


def _tables(header: Header, values: memoryview[int]) -> Iterator[Table]:
    offset = 0
    for table in header.tables:
        end = offset + table.layout.size_bytes
        columns = PackedColumns(table.layout, values[offset:end])
        yield Table(table.entity, table.nodes, table.indices, columns)
        offset = end
