"""Reads `job.json`; whatever is wrong with it is told with the place, the value and the remedy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from paramedic.ingest.contract import JobName
from paramedic.ingest.recordings.description import (
    JOB_FILE,
    MOST,
    MOST_GPUS,
    MOST_SAMPLING_SECONDS,
    SCHEMA,
    JobDescription,
    NodeRoles,
    RankRoles,
)
from paramedic.ingest.recordings.errors import RecordingFormatError

_NAMES = ("name", "node", "switch", "rack")
_SHOWN_CHARACTERS = 80
_REQUIRED = {NodeRoles: ("name",), RankRoles: ("rank", "node")}
_NO_MATTER: Mapping[str, object] = {"gpus": 0}
"""What a node's entry may leave out although it is no role."""


def read_description(folder: Path) -> JobDescription:
    """What the recording says of its job. Raises RecordingFormatError."""
    path = folder / JOB_FILE
    job = _Place(path, "", _load(path))
    schema = job.required("schema")
    if schema != SCHEMA:
        raise job.wrong("schema", schema, f"{SCHEMA}; a newer Paramedic may read it")
    return JobDescription(
        job=JobName(job.text("job")),
        sampling_seconds=_sampling(job),
        nodes=tuple(NodeRoles(**_roles(one, NodeRoles)) for one in job.entries("nodes")),
        ranks=tuple(RankRoles(**_roles(one, RankRoles)) for one in job.entries("ranks")),
    )


class _Place:
    """An object in the file, and where it stands."""

    def __init__(self, path: Path, where: str, value: object) -> None:
        self._path = path
        self._where = where
        if not isinstance(value, dict):
            raise RecordingFormatError(
                f"{path}: {where.rstrip('.') or 'the file'} is no JSON object"
            )
        self.value: dict[str, Any] = value

    def wrong(self, name: str, value: object, wanted: str) -> RecordingFormatError:
        """The error about a field."""
        shown = _shown(value)
        return RecordingFormatError(
            f"{self._path}: {self._where}{name} is {shown}, it must be {wanted}"
        )

    def required(self, name: str) -> Any:
        """The value of a field that has to be there."""
        if self.value.get(name) is None:
            raise RecordingFormatError(f"{self._path}: {self._where}{name} is missing: add it")
        return self.value[name]

    def text(self, name: str) -> str:
        """A text that is not empty."""
        value = self.required(name)
        if not isinstance(value, str) or not value:
            raise self.wrong(name, value, "a text that is not empty")
        return value

    def entries(self, name: str) -> list[_Place]:
        """The objects of a list, which may be absent."""
        value = self.value.get(name) or []
        if not isinstance(value, list):
            raise self.wrong(name, value, "a list of objects")
        return [_Place(self._path, f"{name}[{at}].", one) for at, one in enumerate(value)]


def _shown(value: object) -> str:
    """The value, shortened to what a line bears."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _load(path: Path) -> object:
    if not path.parent.is_dir():
        raise RecordingFormatError(f"{path.parent}: no such folder: name the folder of a recording")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        is_ring = any(path.parent.glob(f"*/*/{JOB_FILE}"))
        remedy = ": it is a ring; cut a recording out of it with capture --cut" if is_ring else ""
        raise RecordingFormatError(
            f"{path.parent} is no recording: it holds no {JOB_FILE}{remedy}"
        ) from error
    except OSError as error:
        raise RecordingFormatError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RecordingFormatError(f"{path} is not JSON: {error}") from error


def _sampling(job: _Place) -> float:
    value = job.value.get("sampling_seconds", 1.0)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value <= MOST_SAMPLING_SECONDS:
        wanted = f"a number above 0 and at most {MOST_SAMPLING_SECONDS}: the usual seconds between"
        raise job.wrong("sampling_seconds", value, f"{wanted} two samples of a source")
    return float(value)


def _roles(place: _Place, kind: type[NodeRoles | RankRoles]) -> dict[str, Any]:
    """The fields of an entry that are known here; a newer writer may add any."""
    for name in _REQUIRED[kind]:
        place.required(name)
    known = {one.name for one in fields(kind)}
    given = {name: value for name, value in place.value.items() if name in known}
    found: dict[str, Any] = {**_NO_MATTER} if kind is NodeRoles else {}
    for name, value in given.items():
        if value is not None:
            found[name] = place.text(name) if name in _NAMES else _whole(place, name, value)
    return found


def _whole(place: _Place, name: str, value: Any) -> int:
    most = MOST_GPUS if name == "gpus" else MOST
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if not is_whole or isinstance(value, bool) or not 0 <= value <= most:
        raise place.wrong(name, value, f"a whole number from 0 to {most}")
    return int(value)
