"""Writes a recording second by second: batches to Parquet, events to a JSON line each.

The folder can be read at any time, also when whoever wrote it was killed, or the disk is full: rows
lie in parts that are whole files, events are appended line by line. The tables of all entities end
with the same batch, so that none of them seems to have fallen silent. `close` puts the parts
together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from paramedic.ingest.contract import Entity, Event, NodeName, TelemetryBatch
from paramedic.ingest.drafts import is_full, reason_of, remedy_for, write_text
from paramedic.ingest.recordings.columns import EntityFile, WritePart
from paramedic.ingest.recordings.description import JOB_FILE, JobDescription
from paramedic.ingest.recordings.errors import RecordingExistsError, RecordingWriteError
from paramedic.ingest.recordings.events_file import EventsFile
from paramedic.ingest.recordings.joining import write_whole
from paramedic.ingest.recordings.layout import EVENTS_FILE, PARTS_FOLDER, ROWS_A_GROUP, whole_file

_GROUPS_KEPT = 4
"""So many times the rows of a part wait while the disk is full; then the oldest are lost."""

Arrived = float | Mapping[NodeName, float] | None
"""Unix seconds at which a batch arrived, or each node's part of it; None: not known."""


class RecordingWriter:
    """A recording that is being written. Memory holds some minutes of it at most.

    Raises RecordingExistsError when the folder holds one already, and RecordingWriteError from
    every method when the disk does not take more. Then everything is held on to, up to a limit, and
    tried again with the next `flush`.
    """

    def __init__(
        self,
        folder: Path,
        job: JobDescription,
        rows_a_group: int = ROWS_A_GROUP,
        write_part: WritePart = write_whole,
    ) -> None:
        """`rows_a_group`: how many rows of an entity are held before they are written."""
        self._folder = folder
        self._entities = {one: EntityFile(folder, one, write_part) for one in Entity}
        self._rows_a_group = self._due_at = rows_a_group
        self._first_held = self._batches = 0
        """The number of the oldest batch that is held, and that of the next to come."""
        self._events = EventsFile(folder / EVENTS_FILE)
        with told(folder):
            require_unused(folder)
            (folder / PARTS_FOLDER).mkdir(parents=True, exist_ok=True)
            (folder / EVENTS_FILE).touch()
        self.describe(job)

    def describe(self, job: JobDescription) -> None:
        """Say anew what the job is like: it grew, or its roles became known."""
        path = self._folder / JOB_FILE
        with told(self._folder):
            write_text(path, job.to_json() + "\n")

    def append(self, batch: TelemetryBatch, arrived: Arrived = None) -> None:
        """Add a batch; any order, any metrics. All are written when one entity has rows enough."""
        for table in batch.tables:
            times = None if arrived is None else _per_row(arrived, table.nodes)
            self._entities[table.entity].append(self._batches, batch, table, times)
        self._batches += 1
        if self._most_held >= self._due_at:
            self.flush()

    def event(self, event: Event, arrived: float | None = None) -> None:
        """Add an event; `arrived` (Unix seconds) is when it was heard of."""
        with told(self._folder):
            self._events.append(event, arrived)

    def flush(self) -> None:
        """Write what is held; of what does not fit, the oldest batches that do."""
        self._each([self._write_rows, self._events.flush])

    def close(self) -> None:
        """Write what is left. Closing twice is harmless."""
        joins = [one.join for one in self._entities.values()]
        self._each([self._write_rows, self._events.flush, *joins])
        with told(self._folder):
            parts = self._folder / PARTS_FOLDER
            if parts.exists() and not any(parts.iterdir()):
                parts.rmdir()

    def _write_rows(self) -> None:
        """Raises OSError, and holds on to the rest, when not all of it can be written."""
        try:
            self._write_until(self._batches)
        except OSError as error:
            if is_full(error):
                self._fill()
            self._give_up_oldest()
            self._due_at = self._most_held + self._rows_a_group
            raise
        self._due_at = self._rows_a_group

    def _fill(self) -> None:
        """Write as many of the oldest batches as there is room for."""
        step = self._batches - self._first_held
        while step > 1:
            step = -(-step // 2)
            with suppress(OSError):  # then half of it may fit
                self._write_until(min(self._first_held + step, self._batches))

    def _write_until(self, until: int) -> None:
        """Write what is held of the batches before this one, of all entities or of none."""
        with ExitStack() as undone:
            for entity in self._entities.values():
                part = entity.write(until)
                if part is not None:
                    undone.callback(part.unlink)
            undone.pop_all()
        for entity in self._entities.values():
            entity.settle(until)
        self._first_held = until

    def _give_up_oldest(self) -> None:
        """Let the oldest batches go where too many rows wait."""
        while self._most_held > _GROUPS_KEPT * self._rows_a_group:
            self._first_held += 1
            for entity in self._entities.values():
                entity.give_up(self._first_held)

    @property
    def _most_held(self) -> int:
        return max(entity.held for entity in self._entities.values())

    def _each(self, writes: Sequence[Callable[[], None]]) -> None:
        """Do all of it, whatever becomes of the rest."""
        due: list[OSError] = []
        for write in writes:
            try:
                write()
            except OSError as error:
                due.append(error)
        if due:
            raise _refusal(self._folder, due[0]) from due[0]

    @property
    def rows(self) -> int:
        """Rows that are in the folder."""
        return sum(entity.rows for entity in self._entities.values())

    @property
    def events(self) -> int:
        """Events that are in the folder."""
        return self._events.events

    @property
    def lost(self) -> int:
        """Rows and events that were given up because the disk took no more for too long."""
        rows = sum(entity.rows_lost for entity in self._entities.values())
        return rows + self._events.events_lost

    @property
    def waiting(self) -> int:
        """Rows and events that are held and not written yet."""
        rows = sum(entity.held for entity in self._entities.values())
        return rows + self._events.waiting

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def require_unused(folder: Path) -> None:
    """Raises RecordingExistsError when the folder holds a recording, or a part of one.

    An empty file of events is what a start on a full disk leaves.
    """
    names = (JOB_FILE, EVENTS_FILE, *(whole_file(folder, one).name for one in Entity))
    held = [name for name in names if _has_content(folder / name)]
    if held or any(folder.glob(f"{PARTS_FOLDER}/*.parquet")):
        part = "" if JOB_FILE in held else f" (a part of one: {', '.join(held or [PARTS_FOLDER])})"
        raise RecordingExistsError(
            f"{folder} holds a recording already{part}: name another folder, or remove it first"
        )


def _has_content(file: Path) -> bool:
    return file.exists() and file.stat().st_size > 0


def _per_row(arrived: float | Mapping[NodeName, float], nodes: tuple[NodeName, ...]) -> list[float]:
    if isinstance(arrived, Mapping):
        return [arrived[node] for node in nodes]
    return [arrived] * len(nodes)


@contextmanager
def told(folder: Path) -> Iterator[None]:
    """What the disk refuses becomes a RecordingWriteError that names the folder."""
    try:
        yield
    except OSError as error:
        raise _refusal(folder, error) from error


def _refusal(folder: Path, error: OSError) -> RecordingWriteError:
    return RecordingWriteError(
        f"{folder} cannot be written: {reason_of(error)}", remedy_for(error, "name another folder")
    )
