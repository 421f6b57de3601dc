"""Reads dumps of PyTorch's NCCL flight recorder, a file a rank: what each rank still waits in.

Of a dump the collectives that are not completed are of use: their group and their number in it.
PyTorch writes pickles; they are read without anything that could run, for dumps are plain data.
"""

from __future__ import annotations

import io
import json
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from paramedic.diagnosis.flight_recorder.errors import DumpFormatError, DumpsAbsentError
from paramedic.ingest.contract import why_not
from paramedic.ingest.drafts import reason_of

_FILE = re.compile(r"(?:.*rank_?|.*trace_)(\d+)(?:\.json)?")
_PICKLE = b"\x80"
_BROKEN = (
    OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, pickle.UnpicklingError
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pending:
    """The collectives of one group that a rank has begun and not completed."""

    oldest: int
    newest: int


@dataclass(frozen=True, slots=True)
class RankDump:
    """What one rank's recorder held."""

    rank: int
    groups: Mapping[str, tuple[int, ...]]
    """The ranks of every group that this one is in."""
    pending: Mapping[str, Pending]
    """By group; groups in which it waits for nothing are left out."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What people call the groups."""
    newest_seconds: float = 0.0
    """When its newest collective was begun (Unix seconds); 0: nobody tells."""


def read_dumps(folder: Path) -> tuple[RankDump, ...]:
    """The dumps of all ranks, in their order. Raises FlightRecorderError."""
    found = [(_FILE.fullmatch(path.name), path) for path in _files(folder)]
    dumps = [_dump(int(match[1]), path) for match, path in found if match is not None]
    if not dumps:
        raise DumpsAbsentError(
            f"{folder} holds no rankNN.json, and no nccl_trace_rank_N: a dump has its rank's number"
            " at the end of its name"
        )
    return tuple(sorted(dumps, key=lambda one: one.rank))


def _files(folder: Path) -> list[Path]:
    try:
        if folder.is_dir():
            return sorted(folder.iterdir())
    except OSError as error:
        raise DumpsAbsentError(
            f"{folder} cannot be looked at: {reason_of(error)}: see that you may read it"
        ) from error
    raise DumpsAbsentError(f"{folder} is no folder: name the one with the dumps of all ranks")


class _PlainData(pickle.Unpickler):
    """Reads lists, texts and numbers, and refuses whatever would have to be imported."""

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module_name}.{global_name}")


def _dump(rank: int, path: Path) -> RankDump:
    try:
        fields = _fields(path.read_bytes())
        config, entries = fields["pg_config"], fields["entries"]
        return RankDump(
            rank,
            {
                name: tuple(int(one) for one in json.loads(group["ranks"]))
                for name, group in config.items()
            },
            _pending(entries),
            {name: str(group.get("desc", name)) for name, group in config.items()},
            max((one.get("time_created_ns") or 0 for one in entries), default=0) / 1e9,
        )
    except _BROKEN as error:
        raise DumpFormatError(f"{path} is no flight-recorder dump: {why_not(error)}") from error


def _fields(content: bytes) -> dict[str, Any]:
    is_pickle = content.startswith(_PICKLE)
    found = _PlainData(io.BytesIO(content)).load() if is_pickle else json.loads(content)
    if not isinstance(found, dict):
        raise TypeError(f"it holds a {type(found).__name__}")
    return found


def _pending(entries: list[Any]) -> dict[str, Pending]:
    numbers: dict[str, list[int]] = {}
    for entry in entries:
        if entry["state"] != "completed" and not entry.get("is_p2p", False):
            numbers.setdefault(entry["process_group"][0], []).append(entry["collective_seq_id"])
    return {name: Pending(min(those), max(those)) for name, those in numbers.items()}
