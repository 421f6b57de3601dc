"""Records one job as it comes in, whatever becomes of the disk meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from paramedic.ingest.contract import Event, TelemetryBatch
from paramedic.ingest.recordings.columns import WritePart
from paramedic.ingest.recordings.errors import RecordingWriteError
from paramedic.ingest.recordings.joining import write_whole
from paramedic.ingest.recordings.portrait import Portrait
from paramedic.ingest.recordings.writing import RecordingWriter


class Recorder:
    """A recording that bears a full disk: one line says so, what is there stays, what comes is held
    on to as long as there is room for it, and recording goes on when the disk takes more."""

    def __init__(
        self,
        folder: Path,
        portrait: Portrait,
        tell: Callable[[str], None],
        write_part: WritePart = write_whole,
    ) -> None:
        """Raises RecordingError when the recording cannot be begun."""
        self.folder = folder
        self._portrait = portrait
        self._tell = tell
        self._described = portrait.version
        self._trouble: str | None = None
        self._given_up = 0
        self._writer = RecordingWriter(folder, portrait.description(), write_part=write_part)

    def telemetry(self, batch: TelemetryBatch, arrived: float) -> None:
        """Take a batch; `arrived` is Unix seconds."""
        self._try(lambda: self._writer.append(batch, arrived))

    def event(self, event: Event, arrived: float | None) -> None:
        """Take an event; None: it was heard of at some time before."""
        self._try(lambda: self._writer.event(event, arrived))

    def flush(self) -> None:
        """Have everything in the folder, also what the job is like by now."""
        if self._try(self._write) and self._trouble is not None:
            self._trouble = None
            lost = f"; {self.lost} rows and events are lost" if self.lost else ""
            self._tell(f"{self.folder} can be written again{lost}")

    def close(self) -> None:
        """End the recording."""
        self.flush()
        self._try(self._writer.close)
        self._given_up = self._writer.waiting
        if self._given_up:
            self._tell(f"{self.folder}: {self._given_up} rows and events could not be written")

    @property
    def rows(self) -> int:
        """Rows that are in the folder."""
        return self._writer.rows

    @property
    def events(self) -> int:
        """Events that are in the folder."""
        return self._writer.events

    @property
    def lost(self) -> int:
        """Rows and events that had to be given up; at the end, also what still waited."""
        return self._writer.lost + self._given_up

    @property
    def waiting(self) -> int:
        """Rows and events that are not in the folder yet, and may come into it."""
        return self._writer.waiting - self._given_up

    def _write(self) -> None:
        self._writer.flush()
        if self._described != self._portrait.version:
            self._writer.describe(self._portrait.description())
            self._described = self._portrait.version

    def _try(self, write: Callable[[], None]) -> bool:
        try:
            write()
        except RecordingWriteError as error:
            if self._trouble is None:
                self._tell(
                    f"{error.what}; what is there stays, and recording goes on when there is room"
                )
            self._trouble = str(error)
            return False
        return True
