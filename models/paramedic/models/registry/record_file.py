"""The registry's record as a JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from paramedic.ingest.json_fields import JsonObject, read_json
from paramedic.models.registry.errors import ModelFileError
from paramedic.models.registry.stages import Entry, Record, Step

_SCHEMA = 1
_MOST_VERSIONS = 999_999


def record_bytes(record: Record) -> bytes:
    """The file's content: one entry a line."""
    lines = ",\n".join(json.dumps(asdict(one), sort_keys=True) for one in record.entries)
    return f'{{"schema": {_SCHEMA}, "entries": [\n{lines}\n]}}\n'.encode()


def read_record(path: Path) -> Record:
    """The record in a file, empty where there is none. Raises ModelFileError."""
    try:
        return _record(JsonObject(path, read_json(path, ModelFileError), ModelFileError))
    except FileNotFoundError:
        return Record()
    except OSError as error:
        raise ModelFileError(f"{path}: the registry cannot be read: {error.strerror}") from error
    except ModelFileError as error:
        raise ModelFileError(
            f"{path}: no record of a registry: {str(error).removeprefix(str(path)).lstrip(': ')};"
            " the models beside it are untouched: correct the file, or move it away and add each"
            f" anew (paramedic models add {path.parent / 'versions' / '0001'} and so on)"
        ) from error


def _record(told: JsonObject[ModelFileError]) -> Record:
    schema = told.required("schema")
    if schema != _SCHEMA:
        raise told.wrong("schema", schema, f"{_SCHEMA}; a newer Paramedic may read it")
    told.required("entries")
    return Record(tuple(_entry(one) for one in told.objects("entries")))


def _entry(told: JsonObject[ModelFileError]) -> Entry:
    step = told.text("step")
    if step not in [*Step]:
        raise told.wrong("step", step, f"one of {', '.join(Step)}")
    return Entry(
        at=str(told.required("at")),
        step=Step(step),
        version=told.whole("version", _MOST_VERSIONS),
        digest=str(told.required("digest")),
        why=str(told.value.get("why", "")),
    )
