"""Reads `job.json`; whatever is wrong with it is told with the place, the value and the remedy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from paramedic.ingest.contract import JobName
from paramedic.ingest.json_fields import JsonObject, read_json
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
from paramedic.ingest.recordings.looking import looking

_Object = JsonObject[RecordingFormatError]

_NAMES = ("name", "node", "switch", "rack")
_REQUIRED = {NodeRoles: ("name",), RankRoles: ("rank", "node")}
_NO_MATTER: Mapping[str, object] = {"gpus": 0}
"""What a node's entry may leave out although it is no role."""


def read_description(folder: Path) -> JobDescription:
    """What the recording says of its job. Raises RecordingFormatError."""
    path = folder / JOB_FILE
    job = JsonObject(path, _load(path), RecordingFormatError)
    schema = job.required("schema")
    if schema != SCHEMA:
        raise job.wrong("schema", schema, f"{SCHEMA}; a newer Paramedic may read it")
    return JobDescription(
        job=JobName(job.text("job")),
        sampling_seconds=_sampling(job),
        nodes=tuple(NodeRoles(**_roles(one, NodeRoles)) for one in job.objects("nodes")),
        ranks=tuple(RankRoles(**_roles(one, RankRoles)) for one in job.objects("ranks")),
    )


def _load(path: Path) -> object:
    with looking():
        is_there = path.parent.is_dir()
    if not is_there:
        raise RecordingFormatError(f"{path.parent}: no such folder: name the folder of a recording")
    try:
        return read_json(path, RecordingFormatError)
    except FileNotFoundError as error:
        with looking():
            is_ring = any(path.parent.glob(f"*/*/{JOB_FILE}"))
        remedy = ": it is a ring; cut a recording out of it with capture --cut" if is_ring else ""
        raise RecordingFormatError(
            f"{path.parent} is no recording: it holds no {JOB_FILE}{remedy}"
        ) from error
    except OSError as error:
        raise RecordingFormatError(f"{path} cannot be read: {error.strerror}") from error


def _sampling(job: _Object) -> float:
    value = job.value.get("sampling_seconds", 1.0)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value <= MOST_SAMPLING_SECONDS:
        wanted = f"a number above 0 and at most {MOST_SAMPLING_SECONDS}: the usual seconds between"
        raise job.wrong("sampling_seconds", value, f"{wanted} two samples of a source")
    return float(value)


def _roles(place: _Object, kind: type[NodeRoles | RankRoles]) -> dict[str, Any]:
    """The fields of an entry that are known here; a newer writer may add any."""
    for name in _REQUIRED[kind]:
        place.required(name)
    known = {one.name for one in fields(kind)}
    given = {name: value for name, value in place.value.items() if name in known}
    found: dict[str, Any] = {**_NO_MATTER} if kind is NodeRoles else {}
    for name, value in given.items():
        if value is not None:
            found[name] = place.text(name) if name in _NAMES else place.whole(name, _most(name))
    return found


def _most(name: str) -> int:
    return MOST_GPUS if name == "gpus" else MOST
