"""The header of a telemetry batch: its records, and the checks both writer and reader apply."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Never

from paramedic.ingest.batch.columns import ColumnLayout
from paramedic.ingest.batch.schema import ValueType, layout
from paramedic.ingest.contract import ContractError, Entity, JobName, NodeName

NAME_LIMIT = 255
GENERATION_LIMIT = 2**32 - 1
SECOND_LIMIT = 253402300799
"""The end of the year 9999, so that every slot is also a datetime."""
INDEX_LIMIT = 2**31 - 1
TABLES_LIMIT = 64
SHARDS_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class TableHeader:
    """The rows and columns of a table; the values follow in the body."""

    entity: Entity
    nodes: tuple[NodeName, ...]
    indices: tuple[int, ...] | None
    layout: ColumnLayout


@dataclass(frozen=True, slots=True)
class Header:
    """What a batch says of itself before the values."""

    job: JobName
    generation: int
    second: int
    tables: tuple[TableHeader, ...]
    shard: int = 0
    shards: int = 1


def read_header(data: bytes) -> Header:
    """The header in its UTF-8 JSON. Raises ContractError with the field and its value."""
    try:
        fields = json.loads(str(data, "utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"telemetry batch: header is not JSON: {error}") from error
    return check_header(fields)


def restated(header: Header, generation: int, job: bytes, second: int) -> Header:
    """A header that was checked before, with what a sender's next one differs in.

    Raises ContractError with the field and its value.
    """
    try:
        name = str(job, "utf-8")
    except UnicodeDecodeError as error:
        raise ContractError(f"telemetry batch: header is not JSON: {error}") from error
    return Header(
        JobName(_name(name, "job")),
        _integer(generation, "generation", GENERATION_LIMIT),
        _integer(second, "second", SECOND_LIMIT),
        header.tables,
        header.shard,
        header.shards,
    )


def check_header(fields: object) -> Header:
    """The header in its parsed JSON; unknown fields are left for later versions to use.

    Raises ContractError with the field and its value.
    """
    if not isinstance(fields, dict):
        _refuse("header", fields, "an object")
    version = fields.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version != layout().version:
        _refuse("version", version, f"{layout().version}")
    tables = fields.get("tables")
    if not isinstance(tables, list) or len(tables) > TABLES_LIMIT:
        _refuse("tables", tables, f"a list of at most {TABLES_LIMIT}")
    shards = _integer(fields.get("shards", 1), "shards", SHARDS_LIMIT)
    shard = _integer(fields.get("shard", 0), "shard", shards - 1)
    return Header(
        job=JobName(_name(fields.get("job"), "job")),
        generation=_integer(fields.get("generation"), "generation", GENERATION_LIMIT),
        second=_integer(fields.get("second"), "second", SECOND_LIMIT),
        tables=tuple(_table(table, f"tables[{n}]") for n, table in enumerate(tables)),
        shard=shard,
        shards=shards,
    )


def _table(fields: object, where: str) -> TableHeader:
    if not isinstance(fields, dict):
        _refuse(where, fields, "an object")
    entity = _entity(fields.get("entity"), f"{where}.entity")
    nodes = _nodes(fields.get("nodes"), f"{where}.nodes")
    indices = _indices(fields.get("indices"), entity, len(nodes), f"{where}.indices")
    rows = nodes if indices is None else tuple(zip(nodes, indices, strict=True))
    if len(set(rows)) != len(rows):
        _refuse(f"{where}.nodes", fields["nodes"], "no row twice")
    columns = _columns(fields.get("columns"), f"{where}.columns")
    return TableHeader(entity, nodes, indices, ColumnLayout.of(columns, len(nodes)))


def _entity(value: object, where: str) -> Entity:
    if not isinstance(value, str) or value not in set(Entity):
        _refuse(where, value, "node, gpu or rank")
    return Entity(value)


def _nodes(value: object, where: str) -> tuple[NodeName, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        _refuse(where, value, "a list of names")
    for name in set(value):
        _name(name, where)
    return tuple(value)


def _indices(value: object, entity: Entity, rows: int, where: str) -> tuple[int, ...] | None:
    if entity is Entity.NODE:
        if value is not None:
            _refuse(where, value, "null for node rows")
        return None
    if not isinstance(value, list) or len(value) != rows:
        _refuse(where, value, f"a list of {rows}, one index a row")
    for index in set(value) if set(map(type, value)) <= {int} else value:
        _integer(index, where, INDEX_LIMIT)
    return tuple(value)


def _columns(value: object, where: str) -> tuple[tuple[str, ValueType], ...]:
    if not isinstance(value, list):
        _refuse(where, value, "a list")
    columns = tuple(_column(entry, f"{where}[{n}]") for n, entry in enumerate(value))
    metrics = [metric for metric, _ in columns]
    for before, after in pairwise(metrics):
        if before >= after:
            _refuse(where, after, f"metric ids in ascending order, this one follows {before!r}")
    return columns


def _column(entry: object, where: str) -> tuple[str, ValueType]:
    if not isinstance(entry, Mapping):
        _refuse(where, entry, "an object")
    value_type = entry.get("type")
    if not isinstance(value_type, str) or value_type not in set(ValueType):
        _refuse(f"{where}.type", value_type, "f4 or f8")
    return _name(entry.get("metric"), f"{where}.metric"), ValueType(value_type)


def _name(value: object, where: str) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= NAME_LIMIT:
        _refuse(where, value, f"a string of 1 to {NAME_LIMIT} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        _refuse(where, value, "text without half a surrogate pair")
    return value


def _integer(value: object, where: str, limit: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= limit:
        _refuse(where, value, f"an integer from 0 to {limit}")
    return value


def _refuse_constant(constant: str) -> Never:
    raise ValueError(f"{constant} is not JSON")


def _refuse(where: str, value: object, expected: str) -> Never:
    raise ContractError(
        f"telemetry batch: header field {where} is {reprlib.repr(value)}, expected {expected}"
    )
