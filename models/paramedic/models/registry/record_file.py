"""The registry's record as a JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramedic.models.registry.errors import ModelFileError
from paramedic.models.registry.stages import Entry, Record, Step

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCHEMA = 1


def record_bytes(record: Record) -> bytes:
    """The file's content: one entry a line."""
    lines = ",\n".join(json.dumps(asdict(one), sort_keys=True) for one in record.entries)
    return f'{{"schema": {_SCHEMA}, "entries": [\n{lines}\n]}}\n'.encode()


def read_record(path: Path) -> Record:
    """The record in a file, empty where there is none. Raises ModelFileError."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Record()
    except OSError as error:
        raise ModelFileError(f"{path}: the registry cannot be read: {error.strerror}") from error
    try:
        return _record(json.loads(content))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(f"{path}: no record of a registry: {error!r}") from error


def _record(told: Mapping[str, Any]) -> Record:
    if told["schema"] != _SCHEMA:
        raise ValueError(f"schema is {told['schema']!r}, and this release reads {_SCHEMA}")
    return Record(tuple(_entry(one) for one in told["entries"]))


def _entry(told: Mapping[str, Any]) -> Entry:
    return Entry(
        at=str(told["at"]),
        step=Step(told["step"]),
        version=int(told["version"]),
        digest=str(told["digest"]),
        why=str(told.get("why", "")),
    )
