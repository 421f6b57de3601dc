"""The telemetry batch as JSON, for writers that have no binary one; docs/telemetry-batch.md.

It is turned into the same record at the door, under the same limits, and nothing behind the door
knows which form a batch came in.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping
from typing import Any, Never

from paramedic.ingest.batch.decode import decode
from paramedic.ingest.batch.header import TableHeader, check_header
from paramedic.ingest.batch.schema import layout
from paramedic.ingest.contract import ContractError, Table, TelemetryBatch

_BLANKS = b" \t\r\n"
_OPENING = b"{"
_NOT_OBSERVED = math.nan


def read_batch(payload: bytes) -> TelemetryBatch:
    """The batch in a message of the telemetry topic, in whichever form it is.

    Raises ContractError, saying what is wrong and where, for anything that is no such message.
    """
    if payload[:1] == _OPENING or (payload[:1] in _BLANKS and payload.lstrip()[:1] == _OPENING):
        return read_json(payload)
    return decode(payload)


def read_json(payload: bytes) -> TelemetryBatch:
    """The batch in its JSON form. Raises ContractError, saying what is wrong and where."""
    limit = layout().body_limit_bytes
    if len(payload) > limit:
        raise ContractError(f"telemetry batch: {len(payload)} bytes of JSON, allowed are {limit}")
    try:
        fields = json.loads(payload, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"telemetry batch: not JSON: {str(error)[:240]}") from error
    if not isinstance(fields, dict):
        raise ContractError(f"telemetry batch: {reprlib.repr(fields)} is no JSON object")
    columns = [_columns(table, at) for at, table in enumerate(_listed(fields))]
    header = check_header(_header(fields, columns))
    return TelemetryBatch(
        job=header.job,
        generation=header.generation,
        second=header.second,
        tables=tuple(map(_table, header.tables, columns, range(len(columns)))),
        shard=header.shard,
        shards=header.shards,
    )


def write_json(batch: TelemetryBatch) -> bytes:
    """The JSON form of a batch; NaN and infinities, which JSON has not, are null."""
    fields: dict[str, Any] = {
        "job": batch.job,
        "generation": batch.generation,
        "second": batch.second,
        "tables": [_written(table) for table in batch.tables],
    }
    if (batch.shard, batch.shards) != (0, 1):
        fields |= {"shard": batch.shard, "shards": batch.shards}
    return json.dumps(fields, ensure_ascii=False).encode()


def _header(fields: Mapping[str, Any], columns: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The header that the binary form of the same batch has."""
    header = {"generation": 0, "version": layout().version, **fields}
    if _listed(fields):
        header["tables"] = [
            {"indices": None, **table, "columns": _column_headers(values)}
            for table, values in zip(_listed(fields), columns, strict=True)
        ]
    return header


def _listed(fields: Mapping[str, Any]) -> list[Any]:
    """The tables, if they are a list at all; the header's check says if they are not."""
    tables = fields.get("tables")
    return tables if isinstance(tables, list) else []


def _column_headers(values: Mapping[str, Any]) -> list[dict[str, str]]:
    return [{"metric": metric, "type": layout().type_of(metric)} for metric in sorted(values)]


def _columns(table: object, number: int) -> Mapping[str, Any]:
    if not isinstance(table, dict):
        raise ContractError(
            f"telemetry batch: tables[{number}] is {reprlib.repr(table)}, expected an object"
        )
    columns = table.get("columns")
    if not isinstance(columns, dict):
        raise ContractError(
            f"telemetry batch: tables[{number}].columns is {reprlib.repr(columns)}, expected an"
            " object with a list of values for each metric"
        )
    return columns


def _table(header: TableHeader, columns: Mapping[str, Any], number: int) -> Table:
    rows = len(header.nodes)
    values = {
        metric: _column(columns[metric], rows, f"tables[{number}].columns[{metric!r}]")
        for metric in sorted(columns)
    }
    return Table(header.entity, header.nodes, header.indices, values)


def _column(values: object, rows: int, where: str) -> tuple[float, ...]:
    if not isinstance(values, list) or len(values) != rows:
        raise ContractError(
            f"telemetry batch: {where} is {reprlib.repr(values)}, expected a list of {rows}, one"
            " value a row"
        )
    return tuple(_value(value, where) for value in values)


def _value(value: object, where: str) -> float:
    if value is None:
        return _NOT_OBSERVED
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ContractError(
            f"telemetry batch: {where} holds {reprlib.repr(value)}, expected numbers and nulls"
        )
    try:
        number = float(value)
    except OverflowError as error:
        raise ContractError(
            f"telemetry batch: {where} holds a number of {len(str(value))} digits: {error}"
        ) from error
    if not math.isfinite(number):
        raise ContractError(f"telemetry batch: {where} holds {number}, expected numbers and nulls")
    return number


def _written(table: Table) -> dict[str, Any]:
    written: dict[str, Any] = {"entity": table.entity.value, "nodes": list(table.nodes)}
    if table.indices is not None:
        written["indices"] = list(table.indices)
    written["columns"] = {
        metric: [value if math.isfinite(value) else None for value in values]
        for metric, values in table.columns.items()
    }
    return written


def _refuse_constant(constant: str) -> Never:
    raise ValueError(f"{constant} is no JSON: write null for what was not observed")
