"""Puts a capture together: from a bus or straight from sources, to a recording or a ring."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.kafka import bus_at
from paramedic.api.wiring.stopping import stop_on_signals
from paramedic.api.wiring.telling import say, tell
from paramedic.api.wiring.writable import make_writable
from paramedic.ingest.agent.clock import SystemClock
from paramedic.ingest.contract import IngestError, JobName
from paramedic.ingest.folder_lock import alone_in
from paramedic.ingest.recordings.capturing import Capture, CaptureConfig, CapturePorts, run
from paramedic.ingest.recordings.description import JOB_FILE
from paramedic.ingest.recordings.errors import RecordingExistsError
from paramedic.ingest.recordings.ring import Ring, RingConfig
from paramedic.ingest.recordings.shelves import JobShelf
from paramedic.ingest.some_names import some_names

if TYPE_CHECKING:
    from datetime import datetime

    from paramedic.api.settings.schema import Settings
    from paramedic.api.wiring.source_request import SourceRequest
    from paramedic.ingest.contract import Bus
    from paramedic.ingest.recordings.shelves import Shelf

_GIGABYTE = 1_000_000_000
_JUST_NOW_SECONDS = 60.0
_BUS_BYTES = 256 * 1024 * 1024
_BUS_SECONDS = 600.0
_END_SECONDS = 10.0
_JOBS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class RingWanted:
    """A ring as it was asked for."""

    cap_gigabytes: float
    segment_minutes: float


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """What is to be recorded, and where."""

    out: Path
    bus_address: str | None
    """None: straight from the sources."""
    sources: SourceRequest
    settings: Settings
    seconds: float = math.inf
    job: str | None = None
    every_job: bool = False
    past_seconds: float = 0.0
    """How much of its past is read from a Prometheus."""
    ring: RingWanted | None = None


@dataclass(frozen=True, slots=True)
class CutRequest:
    """What is to be cut out of what was recorded."""

    source: Path
    out: Path
    first: datetime | None
    """None: from the beginning."""
    last: datetime | None
    job: str | None


def capture(request: CaptureRequest, stdout: TextIO, stderr: TextIO) -> int:
    """Record until asked to end, or until the seconds are over.

    Returns 1 when there is no recording, or when something is missing from it. Raises
    PreflightError, BusError, CollectError or RecordingError when something cannot work, and
    FolderInUseError while another capture records to this folder.
    """
    _require_writable(request)
    with alone_in(request.out, "a capture"):
        return _capture(request, stdout, stderr)


def _capture(request: CaptureRequest, stdout: TextIO, stderr: TextIO) -> int:
    say_line = partial(say, stderr)
    shelf = _shelf(request, say_line)
    with stop_on_signals() as stop, _telemetry(request, stop, say_line) as (bus, settle):
        since = -math.inf if request.bus_address is None else time.time() - _JUST_NOW_SECONDS
        config = CaptureConfig(seconds=request.seconds, since_seconds=since)
        ports = CapturePorts(bus, SystemClock(), say_line, say_line, settle)
        say_line(f"recording to {request.out}")
        done = run(config, ports, shelf, stop)
    return _say_end(request, shelf, done, stdout, stderr)


def cut_out(request: CutRequest, stdout: TextIO) -> int:
    """Cut a stretch of time out of a ring or recording. Raises RecordingError."""
    from paramedic.ingest.recordings.cutting import Stretch, cut

    ends = {"first": request.first, "last": request.last}
    stretch = Stretch(**{end: moment for end, moment in ends.items() if moment is not None})
    job = None if request.job is None else JobName(request.job)
    done = cut(request.source, request.out, stretch, job)
    line = {
        "recording": str(request.out),
        "job": done.job,
        "rows": done.rows,
        "events": done.events,
    }
    tell(stdout, json.dumps(line) + "\n")
    return 0


def _require_writable(request: CaptureRequest) -> None:
    """Find out at once what would otherwise be found out with the first batch."""
    out = request.out
    if (out / JOB_FILE).exists():
        raise RecordingExistsError(f"{out} holds a recording already: name another folder")
    try:
        make_writable(out)
    except OSError as error:
        raise PreflightError(
            f"--out {out} cannot be written ({error.strerror}): name another folder"
        ) from error


def _shelf(request: CaptureRequest, say_line: Callable[[str], None]) -> Shelf:
    if request.ring is None:
        job = None if request.job is None else JobName(request.job)
        return JobShelf(request.out, job, every_job=request.every_job, tell=say_line)
    ring = RingConfig(
        folder=request.out,
        cap_bytes=round(request.ring.cap_gigabytes * _GIGABYTE),
        segment_seconds=request.ring.segment_minutes * 60,
    )
    return Ring(ring, say_line)


@contextmanager
def _telemetry(
    request: CaptureRequest, stop: threading.Event, say_line: Callable[[str], None]
) -> Iterator[tuple[Bus, Callable[[], None]]]:
    """The bus to read, and what is to be done before its last messages are taken."""
    if request.bus_address is not None:
        bus = bus_at(request.bus_address, request.settings, request.sources.environment)
        yield bus, lambda: None
        return
    direct = _DirectCollect(request, stop, say_line)
    direct.start()
    try:
        yield direct.bus, direct.end
    finally:
        direct.end()
    if direct.error is not None:
        raise direct.error


class _DirectCollect:
    """Collect in a thread, onto a bus inside this process."""

    def __init__(
        self, request: CaptureRequest, stop: threading.Event, say_line: Callable[[str], None]
    ) -> None:
        from paramedic.api.wiring.sources import check_prometheus, open_sources
        from paramedic.ingest.bus.memory import MemoryBus
        from paramedic.ingest.bus.retention import Retention
        from paramedic.ingest.bus.store import MessageStore

        collect = replace(request.settings.collect, past_seconds=request.past_seconds)
        self._settings = replace(request.settings, collect=collect)
        self._sources = open_sources(request.sources, self._settings, lambda _record, _why: None)
        check_prometheus(request.sources, self._settings)
        self.bus = MemoryBus(MessageStore(Retention(_BUS_BYTES, _BUS_SECONDS)))
        self.error: IngestError | None = None
        self._say = say_line
        self._stop_capture = stop
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._collect, name="collect", daemon=True)

    def start(self) -> None:
        """Begin to collect."""
        self._thread.start()

    def end(self) -> None:
        """Stop, and have everything on the bus that was collected."""
        self._over.set()
        self._thread.join(_END_SECONDS)

    def _collect(self) -> None:
        from paramedic.api.wiring.translation import collect_config
        from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
        from paramedic.ingest.collect.service import run as run_collect

        try:
            run_collect(
                collect_config(self._settings),
                self._sources,
                TelemetryCleaner(),
                self.bus,
                SystemClock(),
                self._over,
                self._say,
                self._say,
            )
        except IngestError as error:
            self.error = error
            self._stop_capture.set()


def _say_end(
    request: CaptureRequest, shelf: Shelf, done: Capture, stdout: TextIO, stderr: TextIO
) -> int:
    status = shelf.status()
    is_empty = not status.folders and not status.rows
    if is_empty:
        say(stderr, _why_empty(request, done))
    lost = status.lost + done.refused
    line = {
        "recordings": [str(folder) for folder in status.folders],
        "rows": status.rows,
        "events": status.events,
        "lost": lost,
        "unreadable": done.unreadable,
    }
    tell(stdout, json.dumps(line) + "\n")
    # A ring that heard nothing holds all there was to hold.
    return int(lost > 0 or (is_empty and request.ring is None))


def _why_empty(request: CaptureRequest, done: Capture) -> str:
    if request.job is None:
        return "no telemetry was heard: there is no recording"
    heard = some_names(done.jobs, _JOBS_SHOWN) or "none"
    return (
        f"no telemetry of job {request.job} was heard: there is no recording; jobs that were heard"
        f" of: {heard}"
    )
