"""Reads dumps of PyTorch's NCCL flight recorder, a JSON file a rank: what each rank still waits in.

Of a dump the collectives that are not completed are of use: their group and their number in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramedic.diagnosis.benchmark.real_sets.errors import RealSetFormatError
from paramedic.diagnosis.benchmark.real_sets.location import present

_FILE = re.compile(r"rank(\d+)\.json")


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


def read_dumps(folder: Path) -> tuple[RankDump, ...]:
    """The dumps of all ranks, in their order. Raises RealSetError."""
    found = [(_FILE.fullmatch(path.name), path) for path in sorted(present(folder).iterdir())]
    dumps = [_dump(int(match[1]), path) for match, path in found if match is not None]
    if not dumps:
        raise RealSetFormatError(f"{folder} holds no rankNN.json")
    return tuple(sorted(dumps, key=lambda one: one.rank))


def _dump(rank: int, path: Path) -> RankDump:
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        groups = {
            name: tuple(int(one) for one in json.loads(group["ranks"]))
            for name, group in fields["pg_config"].items()
        }
        return RankDump(rank, groups, _pending(fields["entries"]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise RealSetFormatError(f"{path} is no flight-recorder dump: {error!r}") from error


def _pending(entries: list[Any]) -> dict[str, Pending]:
    numbers: dict[str, list[int]] = {}
    for entry in entries:
        if entry["state"] != "completed" and not entry.get("is_p2p", False):
            numbers.setdefault(entry["process_group"][0], []).append(entry["collective_seq_id"])
    return {name: Pending(min(those), max(those)) for name, those in numbers.items()}
