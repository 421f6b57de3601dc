"""Writes a recording second by second: batches to Parquet, events to a JSON line each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from paramedic.ingest.contract import Entity, Event, NodeName, TelemetryBatch
from paramedic.ingest.recordings.columns import EntityFile
from paramedic.ingest.recordings.description import JobDescription
from paramedic.ingest.recordings.errors import RecordingExistsError, RecordingWriteError

JOB_FILE = "job.json"
EVENTS_FILE = "events.jsonl"

Arrived = float | Mapping[NodeName, float] | None
"""Unix seconds at which a batch arrived, or each node's part of it; None: not known."""


class RecordingWriter:
    """A recording that is being written. Memory holds some minutes of it at most.

    Raises RecordingExistsError when the folder holds one already, and RecordingWriteError from
    every method when the disk does not take more.
    """

    def __init__(self, folder: Path, job: JobDescription) -> None:
        self._folder = folder
        self._entities = {one: EntityFile(folder, one) for one in Entity}
        with _told(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / JOB_FILE).exists():
                raise RecordingExistsError(
                    f"{folder} holds a recording already: name another folder"
                )
            (folder / JOB_FILE).write_text(job.to_json() + "\n", encoding="utf-8")
            self._events = (folder / EVENTS_FILE).open("a", encoding="utf-8")

    def append(self, batch: TelemetryBatch, arrived: Arrived = None) -> None:
        """Add a batch; any order, any metrics."""
        with _told(self._folder):
            for table in batch.tables:
                times = None if arrived is None else _per_row(arrived, table.nodes)
                self._entities[table.entity].append(batch, table, times)

    def event(self, event: Event) -> None:
        """Add an event."""
        with _told(self._folder):
            self._events.write(json.dumps(json.loads(event.to_json())) + "\n")

    def close(self) -> None:
        """Write what is left. Closing twice is harmless."""
        with _told(self._folder):
            for entity in self._entities.values():
                entity.close()
            self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _per_row(arrived: float | Mapping[NodeName, float], nodes: tuple[NodeName, ...]) -> list[float]:
    if isinstance(arrived, Mapping):
        return [arrived[node] for node in nodes]
    return [arrived] * len(nodes)


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecordingWriteError(
            f"{folder} cannot be written: {error.strerror or error}"
        ) from error
