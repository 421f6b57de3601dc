"""Reads `events.jsonl`: what happened, and what of it cannot be used."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from paramedic.ingest.contract import (
    ContractError,
    Event,
    EventKind,
    JobName,
    format_time,
    parse_time,
)
from paramedic.ingest.recordings.errors import RecordingFormatError
from paramedic.ingest.recordings.layout import ARRIVED, EVENTS_FILE, TIMESTAMP
from paramedic.ingest.recordings.moment import MICROSECONDS, HeardEvent

_KINDS = frozenset(EventKind)


@dataclass(slots=True)
class RecordedEvents:
    """The events of a recording in the order of their arrival, and what was left out."""

    events: list[HeardEvent] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def read_events(folder: Path, job: JobName) -> RecordedEvents:
    """All events; none where there is no file. Raises RecordingFormatError for a wrong line."""
    path = folder / EVENTS_FILE
    found, foreign, unknown = RecordedEvents(), 0, 0
    lines = _lines(path)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        fields = _fields(path, number, line)
        if fields is None and number == len(lines):
            found.remarks.append(f"{path.name}: the last line is cut off and left out")
        elif fields is None:
            raise RecordingFormatError(f"{path}: line {number} is no JSON object: correct it")
        elif fields.get("kind") not in _KINDS and isinstance(fields.get("kind"), str):
            unknown += 1
        elif fields.setdefault("job", job) != job:
            foreign += 1
        else:
            found.events.append(_event(path, number, fields))
    found.remarks += _left_out(path, unknown, "an unknown kind")
    found.remarks += _left_out(path, foreign, "another job")
    found.events.sort(key=lambda one: one.arrived)
    return found


def _left_out(path: Path, number: int, what: str) -> list[str]:
    if not number:
        return []
    are = "event of {} is" if number == 1 else "events of {} are"
    return [f"{path.name}: {number} {are.format(what)} left out"]


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RecordingFormatError(f"{path} cannot be read: {error.strerror}") from error


def _fields(path: Path, number: int, line: bytes) -> dict[str, Any] | None:
    """The fields of a line, times in UTC; None for what is no JSON object."""
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    except RecursionError as error:
        raise RecordingFormatError(
            f"{path}: line {number} is nested without end: correct it"
        ) from error
    if not isinstance(fields, dict):
        return None
    for name in (TIMESTAMP, ARRIVED):
        if isinstance(fields.get(name), str):
            fields[name] = _in_utc(path, number, name, fields[name])
    return fields


def _in_utc(path: Path, number: int, name: str, text: str) -> str:
    """The time with its zone; one without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise RecordingFormatError(
            f"{path}: line {number}: {name} {text!r} is no time: write it as 2026-01-01T00:11:12Z"
        ) from error
    return format_time(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))


def _event(path: Path, number: int, fields: dict[str, Any]) -> HeardEvent:
    arrived = fields.pop(ARRIVED, None)
    try:
        event = Event.from_json(json.dumps(fields).encode())
    except ContractError as error:
        raise RecordingFormatError(f"{path}: line {number}: {error}") from error
    if not isinstance(arrived, str):
        return HeardEvent(event)
    return HeardEvent(event, round(parse_time(arrived).timestamp() * MICROSECONDS))
