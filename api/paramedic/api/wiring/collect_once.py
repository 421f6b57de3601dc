"""A dry look: collects for a short while, publishes nothing, and tells what it found."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.sources import open_sources
from paramedic.api.wiring.stopping import stop_on_signals
from paramedic.api.wiring.telling import say, tell
from paramedic.api.wiring.translation import collect_config
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.collect.status import CollectStatus
from paramedic.ingest.contract import JobName, Start, TelemetryBatch, Topic

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings
    from paramedic.api.wiring.source_request import SourceRequest

_PAST_SECONDS = 120.0
_PATIENCE_SECONDS = 45.0
_SETTLED_SECONDS = 3.0
_LOOK_SECONDS = 0.2
_NOTHING_FOUND = 1


def collect_once(request: SourceRequest, settings: Settings, stdout: TextIO, stderr: TextIO) -> int:
    """Print what would be published, a JSON object a job and one in all; 1 if nothing would be.

    Raises PreflightError or CollectError when something cannot work.
    """
    bus = MemoryBus()
    status = _collect(request, settings, bus, partial(say, stderr))
    for line in findings(status, newest_batches(bus)):
        tell(stdout, f"{json.dumps(line)}\n")
    if status.jobs:
        return 0
    say(stderr, nothing_found(status))
    return _NOTHING_FOUND


def nothing_found(status: CollectStatus) -> str:
    """That no job was found; an address that refuses is why, as far as anybody can tell.

    >>> nothing_found(CollectStatus(silence="http://a gives nothing: Connection refused"))
    'no job was found, so nothing would be published: http://a gives nothing: Connection refused'
    """
    found = "no job was found, so nothing would be published"
    return f"{found}: {status.silence}" if status.silence else found


def newest_batches(bus: MemoryBus) -> dict[JobName, TelemetryBatch]:
    """The last batch of each job."""
    newest: dict[JobName, TelemetryBatch] = {}
    subscription = bus.subscribe([Topic.TELEMETRY], Start.EARLIEST)
    while messages := subscription.poll(0.0):
        for message in messages:
            batch = decode(message.payload)
            newest[batch.job] = batch
    return newest


def findings(
    status: CollectStatus, newest: Mapping[JobName, TelemetryBatch]
) -> Iterator[dict[str, object]]:
    """One object a job, then one with what belongs to none."""
    for name, job in sorted(status.jobs.items()):
        tables = newest[name].tables if name in newest else ()
        yield {
            "job": name,
            "nodes": job.nodes,
            "gpus": job.gpus,
            "sampling_seconds": job.sampling_seconds,
            "training": job.is_training,
            "metrics": {table.entity.value: sorted(table.columns) for table in tables},
        }
    rejected: Counter[str] = Counter()
    for (reason, _metric), count in status.rejected.items():
        rejected[reason] += count
    yield {
        "hosts": status.hosts,
        "gpus": status.gpus,
        "samples": status.samples,
        "rejected": dict(rejected),
        "unpublished_rows": dict(status.unpublished_rows),
        "silent_origins": status.silent_origins,
    }


def _collect(
    request: SourceRequest, settings: Settings, bus: MemoryBus, tell: Callable[[str], None]
) -> CollectStatus:
    from paramedic.ingest.agent.clock import SystemClock
    from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
    from paramedic.ingest.collect.service import run

    past_seconds = min(settings.collect.past_seconds, _PAST_SECONDS)
    short = replace(settings, collect=replace(settings.collect, past_seconds=past_seconds))
    sources = open_sources(request, short, lambda _record, _reason: None)
    looks: list[Callable[[], CollectStatus]] = []

    def watch(status: Callable[[], CollectStatus]) -> None:
        looks.append(status)
        ending = threading.Thread(target=_stop_when_settled, args=(status, stop), daemon=True)
        ending.start()

    with stop_on_signals() as stop:
        run(
            collect_config(short),
            sources,
            TelemetryCleaner(),
            bus,
            SystemClock(),
            stop,
            tell,
            _nobody,
            watch,
        )
    return looks[0]()


def _stop_when_settled(status: Callable[[], CollectStatus], stop: threading.Event) -> None:
    settling = Settling(time.monotonic())
    while not settling.is_over(status(), time.monotonic()) and not stop.wait(_LOOK_SECONDS):
        pass
    stop.set()


class Settling:
    """Decides when enough has been seen: jobs are known, and what comes is of now, for a while."""

    def __init__(self, now: float) -> None:
        self._give_up_at = now + _PATIENCE_SECONDS
        self._since: float | None = None

    def is_over(self, status: CollectStatus, now: float) -> bool:
        """Whether to end now; also when patience is over."""
        widest = max((job.sampling_seconds for job in status.jobs.values()), default=0)
        is_settled = bool(status.jobs) and status.lag_seconds < _SETTLED_SECONDS + widest
        if not is_settled:
            self._since = None
        elif self._since is None:
            self._since = now
        has_lasted = self._since is not None and now - self._since >= _SETTLED_SECONDS
        return has_lasted or now >= self._give_up_at


def _nobody(_line: str) -> None:
    """Nobody wants to know."""
