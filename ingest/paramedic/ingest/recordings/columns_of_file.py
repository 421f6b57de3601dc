"""What the columns of one Parquet file are: keys, metrics, and what cannot be used as either."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from paramedic.ingest.contract import Entity
from paramedic.ingest.recordings.errors import RecordingFormatError
from paramedic.ingest.recordings.layout import (
    ARRIVED,
    GENERATION,
    NODE,
    TIMESTAMP,
    key_columns,
)
from paramedic.ingest.recordings.parquet_files import schema_of

_PANDAS_INDEX = "__index_level_"


@dataclass(frozen=True, slots=True)
class FileColumns:
    """The columns of a file that are read."""

    keys: tuple[str, ...]
    """What every row needs, `arrived` and `generation` where they are there."""
    metrics: tuple[str, ...]
    unusable: Mapping[str, str] = field(default_factory=dict)
    """Columns that hold no numbers, and what they hold."""


def columns_of(path: Path, entity: Entity) -> FileColumns:
    """The columns of a file. Raises RecordingFormatError when it is none, or lacks a key."""
    schema = _schema(path)
    if twice := [name for name, count in Counter(schema.names).items() if count > 1]:
        raise RecordingFormatError(f"{path}: column {twice[0]} is there twice: keep one of them")
    for name in key_columns(entity):
        if name not in schema.names:
            raise RecordingFormatError(
                f"{path}: column {name} is missing; there are {', '.join(schema.names[:8])}"
            )
    keys = (*key_columns(entity), *(n for n in (ARRIVED, GENERATION) if n in schema.names))
    for name in keys:
        _require_kind(path, name, schema.field(name).type)
    unusable = dict(_no_numbers(schema, keys))
    metrics = (n for n in schema.names if n not in keys and n not in unusable)
    return FileColumns(keys, tuple(n for n in metrics if not n.startswith(_PANDAS_INDEX)), unusable)


def _schema(path: Path) -> pa.Schema:
    try:
        return schema_of(path)
    except (pa.ArrowException, OSError) as error:
        raise unreadable(str(path), error) from error


def unreadable(what: str, error: Exception) -> RecordingFormatError:
    """Why the rows of a file cannot be had: the system refuses it, or it is damaged."""
    if is_refused(error):
        return RecordingFormatError(
            f"{what} cannot be read: {reason_of(error)}: see that you may read it, or move it away"
            " to do without it"
        )
    return RecordingFormatError(
        f"{what} is no Parquet file, or a part of one ({reason_of(error)}): copy it again, or move"
        " it away to do without it"
    )


def is_refused(error: Exception) -> bool:
    """Whether the system did not give the bytes, so that nobody knows what they are like.

    pyarrow raises an OSError for damaged bytes too, but without the system's number.
    """
    return isinstance(error, OSError) and error.errno is not None


def reason_of(error: Exception) -> str:
    """What the system says, or the first line of an error's words: pyarrow's can be long."""
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    words = str(error).strip() or type(error).__name__
    return words.splitlines()[0][:160]


def _require_kind(path: Path, name: str, kind: pa.DataType) -> None:
    """Raises RecordingFormatError for a key of another type than it needs."""
    if name in (TIMESTAMP, ARRIVED):
        wanted, fits = "a datetime in UTC", pa.types.is_timestamp(kind)
    elif name == NODE:
        wanted, fits = "a string", _is_text(kind)
    else:
        wanted, fits = "a whole number", pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not fits:
        raise RecordingFormatError(f"{path}: column {name} is {kind}, it must be {wanted}")


def _is_text(kind: pa.DataType) -> bool:
    held = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(held) or pa.types.is_large_string(held) or pa.types.is_string_view(held)
    )


def _no_numbers(schema: pa.Schema, keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for one in schema:
        kind = one.type
        is_number = (
            pa.types.is_floating(kind)
            or pa.types.is_integer(kind)
            or pa.types.is_boolean(kind)
            or pa.types.is_decimal(kind)
            or pa.types.is_null(kind)
        )
        if one.name not in keys and not is_number:
            yield one.name, f"holds {kind}, no numbers"
