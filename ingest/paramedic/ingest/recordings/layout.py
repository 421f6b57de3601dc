"""Which files a recording has, and what their columns are called.

While a recording is written its rows lie in parts, each a whole Parquet file, so that whoever is
killed leaves what can be read. At the end the parts of an entity become one file; that file says
how many of them it holds, so that parts which were not cleared away are not read twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from paramedic.ingest.contract import Entity
from paramedic.ingest.recordings.parquet_files import metadata_of

EVENTS_FILE = "events.jsonl"
PARTS_FOLDER = "parts"

TIMESTAMP = "timestamp"
NODE = "node"
ARRIVED = "arrived"
GENERATION = "generation"
INDEX_COLUMN = {Entity.GPU: "gpu", Entity.RANK: "rank"}

ROWS_A_GROUP = 100_000
_HELD_PARTS = b"paramedic.parts"
_PART = re.compile(r"(?P<entity>node|gpu|rank)-(?P<number>[0-9]{6,})\.parquet")


def whole_file(folder: Path, entity: Entity) -> Path:
    """The file of an entity, once the recording is complete."""
    return folder / f"{entity.value}.parquet"


def part_file(folder: Path, entity: Entity, number: int) -> Path:
    """A part of what is being written."""
    return folder / PARTS_FOLDER / f"{entity.value}-{number:06d}.parquet"


def key_columns(entity: Entity) -> tuple[str, ...]:
    """The columns that every row needs."""
    index = INDEX_COLUMN.get(entity)
    return (TIMESTAMP, NODE) if index is None else (TIMESTAMP, NODE, index)


def files_of(folder: Path, entity: Entity) -> Iterator[Path]:
    """All files with rows of an entity, in the order in which they were written.

    Raises OSError or pyarrow's errors when the file of the entity is there and is none.
    """
    whole = whole_file(folder, entity)
    held = 0
    if whole.exists():
        yield whole
        held = held_parts(whole)
    yield from (path for number, path in parts_of(folder, entity) if number >= held)


def parts_of(folder: Path, entity: Entity) -> list[tuple[int, Path]]:
    """The parts of an entity with their numbers, oldest first."""
    parts = folder / PARTS_FOLDER
    names = ((_PART.fullmatch(path.name), path) for path in parts.glob(f"{entity.value}-*.parquet"))
    return sorted((int(match["number"]), path) for match, path in names if match)


def held_parts(whole: Path) -> int:
    """How many parts have become this file; 0 for one that was never in parts."""
    metadata = metadata_of(whole).metadata or {}
    number = metadata.get(_HELD_PARTS, b"0")
    return int(number) if number.isdigit() else 0


def holding(parts: int) -> dict[bytes, bytes]:
    """The metadata of a file that holds so many parts."""
    return {_HELD_PARTS: str(parts).encode()}
