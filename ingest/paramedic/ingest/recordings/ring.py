"""The last hours of every job, always on: segments that are recordings, and a cap on their size.

RING/JOB/20260101T001000Z/ is a recording. When the cap is exceeded the oldest segment goes first,
whichever job it is of; a segment that grows too large for that to work ends before its time.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from paramedic.ingest.contract import JobName
from paramedic.ingest.recordings.description import JOB_FILE
from paramedic.ingest.recordings.errors import RecordingExistsError
from paramedic.ingest.recordings.portrait import Portrait
from paramedic.ingest.recordings.recorder import Recorder
from paramedic.ingest.recordings.shelves import ShelfStatus, folder_name, status_of

_LARGEST_SHARE = 1 / 8
"""A segment ends when it is this share of the cap, so that others are there to be given up."""


@dataclass(frozen=True, slots=True)
class RingConfig:
    """How much is kept."""

    folder: Path
    cap_bytes: int
    segment_seconds: float = 600.0


@dataclass(slots=True)
class _Open:
    recorder: Recorder
    ends: float


class Ring:
    """A shelf that forgets the oldest."""

    def __init__(self, config: RingConfig, tell: Callable[[str], None]) -> None:
        """Raises RecordingExistsError for a folder that is a recording itself."""
        if (config.folder / JOB_FILE).exists():
            raise RecordingExistsError(
                f"{config.folder} is a recording and no ring: name another folder"
            )
        self._config = config
        self._tell = tell
        self._open: dict[JobName, _Open] = {}
        self._ended = ShelfStatus()
        self._stuck: set[Path] = set()

    def wants(self, job: JobName) -> bool:  # noqa: ARG002 (the port's signature)
        """Every job."""
        return True

    def recorder(self, job: JobName, portrait: Portrait, arrived: float) -> Recorder:
        """The segment for what arrived now."""
        known = self._open.get(job)
        if known is not None and arrived >= known.ends:
            self._end(job)
            known = None
        if known is None:
            width = self._config.segment_seconds
            ends = (arrived // width + 1) * width
            recorder = Recorder(self._new_folder(job, arrived), portrait, self._tell)
            known = self._open[job] = _Open(recorder, ends)
        return known.recorder

    def flush(self, arrived: float) -> None:
        """Have everything on the disk, end the segments whose time is over, and keep the cap."""
        for job, one in list(self._open.items()):
            one.recorder.flush()
            if arrived >= one.ends:
                self._end(job)
        self._keep_cap()

    def close(self) -> None:
        """End all segments."""
        for job in list(self._open):
            self._end(job)

    def status(self) -> ShelfStatus:
        """What has been recorded, segments that have gone since included; folders that remain."""
        now = status_of([one.recorder for one in self._open.values()])
        return ShelfStatus(
            rows=now.rows + self._ended.rows,
            events=now.events + self._ended.events,
            lost=now.lost + self._ended.lost,
            waiting=now.waiting,
            folders=(*self._ended.folders, *now.folders),
        )

    def _new_folder(self, job: JobName, arrived: float) -> Path:
        name = f"{datetime.fromtimestamp(arrived, UTC):%Y%m%dT%H%M%SZ}"
        folder = self._config.folder / folder_name(job)
        again = (folder / f"{name}-{number}" for number in range(1, 1000))
        return next(one for one in (folder / name, *again) if not one.exists())

    def _end(self, job: JobName) -> None:
        one = self._open.pop(job)
        one.recorder.close()
        done, before = status_of([one.recorder]), self._ended
        self._ended = ShelfStatus(
            rows=before.rows + done.rows,
            events=before.events + done.events,
            lost=before.lost + done.lost,
            folders=(*before.folders, *done.folders),
        )

    def _keep_cap(self) -> None:
        sizes = {segment: size_of(segment) for segment in segments(self._config.folder)}
        too_large = self._config.cap_bytes * _LARGEST_SHARE
        for job, one in list(self._open.items()):
            if sizes.get(one.recorder.folder, 0) > too_large:
                self._end(job)
        open_folders = {one.recorder.folder for one in self._open.values()}
        total = sum(sizes.values())
        for segment, size in sizes.items():
            if total <= self._config.cap_bytes:
                return
            if segment not in open_folders and self._remove(segment):
                total -= size

    def _remove(self, segment: Path) -> bool:
        try:
            shutil.rmtree(segment)
        except OSError as error:
            if segment not in self._stuck:
                self._stuck.add(segment)
                reason = error.strerror or error
                self._tell(f"{segment} cannot be removed ({reason}): the ring outgrows its cap")
            return False
        folders = tuple(one for one in self._ended.folders if one != segment)
        self._ended = replace(self._ended, folders=folders)
        return True


def segments(ring: Path) -> list[Path]:
    """The segments of all jobs, the oldest first."""
    found = (segment for job in _folders(ring) for segment in _folders(job))
    return sorted(found, key=lambda segment: (segment.name, segment.parent.name))


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _folders(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else iter(())
