"""Where the recordings of one capture go: of one job, or of every job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from paramedic.ingest.contract import JobName
from paramedic.ingest.recordings.portrait import Portrait
from paramedic.ingest.recordings.recorder import Recorder


@dataclass(frozen=True, slots=True)
class ShelfStatus:
    """What has been recorded so far."""

    rows: int = 0
    """Rows that are in the folders."""
    events: int = 0
    lost: int = 0
    """Rows and events that had to be given up."""
    waiting: int = 0
    """Rows and events that are not in the folders yet."""
    folders: tuple[Path, ...] = ()


class Shelf(Protocol):
    """Gives each job its recording. Every method may raise RecordingError."""

    def wants(self, job: JobName) -> bool:
        """Whether the job is to be recorded."""
        ...

    def recorder(self, job: JobName, portrait: Portrait, arrived: float) -> Recorder:
        """The recording for what arrived now (Unix seconds)."""
        ...

    def flush(self, arrived: float) -> None:
        """Have everything on the disk."""
        ...

    def close(self) -> None:
        """End all recordings."""
        ...

    def status(self) -> ShelfStatus:
        """What has been recorded."""
        ...


class JobShelf:
    """One folder for one job, or a folder in it for each job."""

    def __init__(
        self, folder: Path, job: JobName | None, *, every_job: bool, tell: Callable[[str], None]
    ) -> None:
        """Without a job, and not every one, it is the first that is heard of."""
        self._folder = folder
        self._job = job
        self._every_job = every_job
        self._tell = tell
        self._passed_over: set[JobName] = set()
        self._recorders: dict[JobName, Recorder] = {}

    def wants(self, job: JobName) -> bool:
        """Whether the job is to be recorded; of a first other one it is told that it is not."""
        if self._every_job:
            return True
        if self._job is None:
            self._job = job
        if job != self._job and job not in self._passed_over:
            self._passed_over.add(job)
            self._tell(
                f"job {job} is there too and is not recorded: --job {job} records it alone,"
                " --every-job all"
            )
        return job == self._job

    def recorder(self, job: JobName, portrait: Portrait, arrived: float) -> Recorder:  # noqa: ARG002 (the port's signature)
        """The job's recording."""
        known = self._recorders.get(job)
        if known is None:
            folder = self._folder / folder_name(job) if self._every_job else self._folder
            known = self._recorders[job] = Recorder(folder, portrait, self._tell)
        return known

    def flush(self, arrived: float) -> None:  # noqa: ARG002 (the port's signature)
        """Have everything on the disk."""
        for recorder in self._recorders.values():
            recorder.flush()

    def close(self) -> None:
        """End all recordings."""
        for recorder in self._recorders.values():
            recorder.close()

    def status(self) -> ShelfStatus:
        """What has been recorded."""
        return status_of(list(self._recorders.values()))


def status_of(recorders: Sequence[Recorder]) -> ShelfStatus:
    """The sum of some recordings."""
    return ShelfStatus(
        rows=sum(one.rows for one in recorders),
        events=sum(one.events for one in recorders),
        lost=sum(one.lost for one in recorders),
        waiting=sum(one.waiting for one in recorders),
        folders=tuple(one.folder for one in recorders),
    )


def folder_name(job: JobName) -> str:
    """The job's name as the name of a folder, whatever is in it.

    >>> folder_name(JobName("team/llama 7b")), folder_name(JobName(".."))
    ('team%2Fllama%207b', '%2E%2E')
    """
    name = quote(job, safe="")
    return name if name.strip(".") else name.replace(".", "%2E")
