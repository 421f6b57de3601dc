"""The telemetry that an explanation needs: of a recording, a ring, or the folder of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from paramedic.api.wiring.replay import opened
from paramedic.ingest.contract import JobName
from paramedic.ingest.recordings.cutting import Stretch, cut
from paramedic.ingest.recordings.description import JOB_FILE
from paramedic.ingest.recordings.looking import looking
from paramedic.ingest.recordings.recording import Recording
from paramedic.ingest.recordings.ring import segments

_RING = "ring"
"""Where a run keeps its last hours, in its folder."""
_AFTER = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is needed of a ring; of a recording everything is read."""

    job: str | None
    first: datetime | None = None
    last: datetime | None = None
    """Both None: the newest half hour, or everything where `is_whole`."""
    past: timedelta = timedelta(minutes=30)
    """So much is read before `first`: evidence takes minutes."""
    is_whole: bool = False

    def around(self, ring: Path) -> Stretch:
        """The stretch of time to cut out."""
        if self.is_whole:
            return Stretch()
        if self.last is not None:
            return Stretch((self.first or self.last) - self.past, self.last + _AFTER)
        newest = max((_begin(one) for one in segments(ring)), default=None)
        return Stretch() if newest is None else Stretch(first=newest - self.past)


@contextmanager
def telemetry_of(folder: Path, excerpt: Excerpt, stderr: TextIO) -> Iterator[Recording]:
    """The recording, or one that is cut out of the ring for the time being.

    Raises RecordingError.
    """
    with looking():
        ring = _ring_of(folder)
        stretch = None if ring is None else excerpt.around(ring)
    if ring is None or stretch is None:
        yield opened(folder, stderr)
        return
    with TemporaryDirectory(prefix="paramedic-explain-") as place:
        job = None if excerpt.job is None else JobName(excerpt.job)
        target = Path(place) / "cut"
        cut(ring, target, stretch, job)
        yield opened(target, stderr)


def _ring_of(folder: Path) -> Path | None:
    """The ring that is meant; None for a recording, or what is neither."""
    ring = folder / _RING if (folder / _RING).is_dir() else folder
    return None if (folder / JOB_FILE).exists() or not segments(ring) else ring


def _begin(segment: Path) -> datetime:
    """When a segment began, by its name; the beginning of time for a folder with another."""
    try:
        return datetime.strptime(segment.name.partition("-")[0], "%Y%m%dT%H%M%SZ").replace(
            tzinfo=UTC
        )
    except ValueError:
        return datetime(1970, 1, 1, tzinfo=UTC)
