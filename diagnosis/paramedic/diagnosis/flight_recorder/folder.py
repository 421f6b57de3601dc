"""A folder in which jobs leave their dumps, looked at now and then: `FOLDER/JOB/` for each job."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from paramedic.diagnosis.flight_recorder.errors import FlightRecorderError
from paramedic.diagnosis.flight_recorder.events import events_of_dumps
from paramedic.diagnosis.flight_recorder.reading import read_dumps
from paramedic.ingest.contract import Event, JobName

_LOG = logging.getLogger(__name__)
_Seen = tuple[tuple[str, int, int], ...]
"""Name, size and time of each file."""


@dataclass(slots=True)
class DumpsFolder:
    """What has been seen of it; dumps are read once they have not changed from look to look."""

    folder: Path
    now: Callable[[], float]
    """Unix seconds: when a job's dumps were found."""
    _seen: dict[str, _Seen] = field(default_factory=dict)
    _told: dict[str, _Seen] = field(default_factory=dict)
    _is_first: bool = True

    def look(self) -> Iterator[Event]:
        """What is new. Dumps that were there at the first look are history."""
        for job, seen in sorted(self._files().items()):
            is_settled, self._seen[job] = self._seen.get(job) == seen, seen
            if self._is_first:
                self._told[job] = seen
            elif is_settled and self._told.get(job) != seen:
                self._told[job] = seen
                yield from self._read(job)
        self._is_first = False

    def _files(self) -> dict[str, _Seen]:
        try:
            jobs = [one for one in self.folder.iterdir() if one.is_dir()]
            return {job.name: _seen(job) for job in jobs}
        except OSError as error:
            _LOG.warning("flight recorders: %s cannot be looked at: %s", self.folder, error)
            return {}

    def _read(self, job: str) -> tuple[Event, ...]:
        try:
            return events_of_dumps(read_dumps(self.folder / job), JobName(job), self.now())
        except FlightRecorderError as error:
            _LOG.warning("flight recorders of %s are not used: %s", job, error)
            return ()


def _seen(folder: Path) -> _Seen:
    stats = [(path.name, path.stat()) for path in sorted(folder.iterdir())]
    return tuple((name, one.st_size, one.st_mtime_ns) for name, one in stats)
