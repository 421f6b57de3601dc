"""`events.jsonl`: a JSON line an event, written at once and whole."""

from __future__ import annotations

import errno
import json
from datetime import UTC, datetime
from pathlib import Path

from paramedic.ingest.contract import Event, format_time

_EVENTS_KEPT = 100_000


class EventsFile:
    """Appends lines. What could not be written is tried again with the next."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: list[bytes] = []
        self.events = 0
        """Events that are in the file."""
        self.events_lost = 0

    @property
    def waiting(self) -> int:
        """Events that are held and not written yet."""
        return len(self._waiting)

    def append(self, event: Event, arrived: float | None) -> None:
        """Write an event. Raises OSError, and holds on to it, when that cannot be done."""
        self._waiting.append(line_of(event, arrived))
        self.flush()

    def flush(self) -> None:
        """Write what could not be written before. Raises OSError."""
        if not self._waiting:
            return
        try:
            self._write(b"".join(self._waiting))
        except OSError:
            too_many = len(self._waiting) - _EVENTS_KEPT
            if too_many > 0:
                del self._waiting[:too_many]
                self.events_lost += too_many
            raise
        self.events += len(self._waiting)
        self._waiting.clear()

    def _write(self, lines: bytes) -> None:
        with self._path.open("ab", buffering=0) as file:
            before = file.tell()
            if file.write(lines) != len(lines):
                file.truncate(before)
                raise OSError(errno.ENOSPC, f"{self._path.name} takes no more lines")


def line_of(event: Event, arrived: float | None) -> bytes:
    """The line of an event; `arrived` (Unix seconds) is when it was heard of.

    >>> from paramedic.ingest.contract import EventKind, JobName, parse_time
    >>> event = Event(parse_time("2026-01-01T00:00:01Z"), EventKind.MAINTENANCE, JobName("a"))
    >>> line_of(event, 1767225602.5)[:59]
    b'{"timestamp": "2026-01-01T00:00:01Z", "kind": "maintenance"'
    """
    fields = json.loads(event.to_json())
    if arrived is not None:
        fields["arrived"] = format_time(datetime.fromtimestamp(arrived, UTC))
    return json.dumps(fields).encode() + b"\n"
