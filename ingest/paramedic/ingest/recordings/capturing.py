"""Live to recordings: subscribes to a bus and writes down what comes, in the order it comes in.

Every message gets an arrival time of its own, so that a replay sees the same batches in the same
order. Events that the bus still holds from before tell what the job is like; they are not recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.ingest.batch.json_form import read_batch
from paramedic.ingest.contract import (
    BusUnavailableError,
    ContractError,
    Event,
    JobName,
    Start,
    TelemetryBatch,
    Topic,
)
from paramedic.ingest.recordings.errors import RecordingWriteError
from paramedic.ingest.recordings.portrait import Portrait
from paramedic.ingest.wording import counted

if TYPE_CHECKING:
    from paramedic.ingest.agent.clock import Clock
    from paramedic.ingest.contract import Bus, Message, Subscription
    from paramedic.ingest.recordings.recorder import Recorder
    from paramedic.ingest.recordings.shelves import Shelf
    from paramedic.ingest.sources.port import StopSignal

_POLL_SECONDS = 0.2
_RETRY_SECONDS = 2.0
_TICK = 1e-6
_EARLY_EVENTS_KEPT = 10_000
_EVENTS_REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class CaptureConfig:
    """How long, and how often something is written and told."""

    seconds: float = math.inf
    flush_seconds: float = 10.0
    """So much is lost at most when the process is killed."""
    progress_seconds: float = 10.0
    since_seconds: float = -math.inf
    """Events that happened earlier (Unix seconds) are not recorded."""


@dataclass(frozen=True, slots=True)
class CapturePorts:
    """What a capture touches of the world."""

    bus: Bus
    clock: Clock
    tell: Callable[[str], None]
    """Takes one line for people: trouble, and its end."""
    note: Callable[[str], None]
    """Takes one line for whoever wants to know more."""
    settle: Callable[[], None] = lambda: None
    """Called when the end has come, before what is still on the bus is taken."""


@dataclass(slots=True)
class _Job:
    """What is known of one job."""

    portrait: Portrait
    recorder: Recorder | None = None
    """Where its last message went."""
    early: list[tuple[Event, float]] = field(default_factory=list)
    """Events that came before any telemetry; a recording begins with telemetry."""


class Capture:
    """Takes messages and puts them on the shelf; for one thread."""

    def __init__(self, shelf: Shelf, since_seconds: float, tell: Callable[[str], None]) -> None:
        self._shelf = shelf
        self._since_seconds = since_seconds
        self._tell = tell
        self._jobs: dict[JobName, _Job] = {}
        self._arrived = -math.inf
        self._is_stuck = False
        self._heard: dict[bytes, None] = {}
        self.unreadable = 0
        """Messages that were no telemetry and no event."""
        self.refused = 0
        """Messages for which no recording could be begun."""

    def take(self, message: Message, now: float) -> None:
        """Write a message down; `now` is Unix seconds."""
        try:
            fact = _read(message)
        except ContractError as error:
            if not self.unreadable:
                self._tell(f"{message.topic.value}, offset {message.offset}: {error}; passed over")
            self.unreadable += 1
            return
        self._arrived = max(now, self._arrived + _TICK)
        job = self._jobs.get(fact.job)
        if job is None:
            job = self._jobs[fact.job] = _Job(Portrait(fact.job))
        if isinstance(fact, Event):
            if self._is_new(message.payload):
                self._take_event(job, fact)
        elif self._shelf.wants(fact.job):
            job.portrait.see(fact)
            self._take_batch(job, fact)

    @property
    def jobs(self) -> list[JobName]:
        """The jobs that were heard of, in the order of their names."""
        return sorted(self._jobs)

    def _is_new(self, payload: bytes) -> bool:
        """Whether the event has not been read before: after a loss of the bus all come again."""
        if payload in self._heard:
            return False
        self._heard[payload] = None
        if len(self._heard) > _EVENTS_REMEMBERED:
            del self._heard[next(iter(self._heard))]
        return True

    def _take_event(self, job: _Job, event: Event) -> None:
        is_past = event.timestamp.timestamp() < self._since_seconds
        if job.recorder is not None:
            recorder = self._recorder(job, event.job)
            if recorder is not None:
                recorder.event(event, self._arrived)
        elif not is_past and len(job.early) < _EARLY_EVENTS_KEPT:
            job.early.append((event, self._arrived))
        # Only now: a recording that begins with this event would tell its state twice.
        job.portrait.hear(event)

    def _take_batch(self, job: _Job, batch: TelemetryBatch) -> None:
        recorder = self._recorder(job, batch.job)
        if recorder is not None:
            recorder.telemetry(batch, self._arrived)

    def _recorder(self, job: _Job, name: JobName) -> Recorder | None:
        """Where the next message goes; None where no recording can be begun now."""
        try:
            recorder = self._shelf.recorder(name, job.portrait, self._arrived)
        except RecordingWriteError as error:
            if not self._is_stuck:
                self._tell(str(error))
            self._is_stuck = True
            self.refused += 1
            return None
        self._is_stuck = False
        if recorder is not job.recorder:
            self._begin(job, recorder)
        return recorder

    def _begin(self, job: _Job, recorder: Recorder) -> None:
        """A recording begins with what the job was doing, and with the events that came early."""
        job.recorder = recorder
        early, job.early = job.early, []
        state = job.portrait.state
        if state is not None and all(event is not state for event, _ in early):
            recorder.event(state, None)
        for event, arrived in early:
            recorder.event(event, arrived)


def run(config: CaptureConfig, ports: CapturePorts, shelf: Shelf, stop: StopSignal) -> Capture:
    """Record until told to stop, or until the seconds are over.

    A bus that is away is waited for. Raises RecordingError when no recording can be begun.
    """
    capture = Capture(shelf, config.since_seconds, ports.tell)
    loop = _Loop(config, ports, shelf, capture, stop)
    try:
        loop.work()
    finally:
        shelf.close()
    return capture


class _Loop:
    def __init__(
        self,
        config: CaptureConfig,
        ports: CapturePorts,
        shelf: Shelf,
        capture: Capture,
        stop: StopSignal,
    ) -> None:
        self._config = config
        self._ports = ports
        self._shelf = shelf
        self._capture = capture
        self._stop = stop
        now = ports.clock.monotonic_seconds()
        self._ends = now + config.seconds
        self._flush_at = now + config.flush_seconds
        self._told_at = now
        self._is_away = False

    def work(self) -> None:
        """Until the end, through all losses of the bus."""
        while not self._is_over():
            try:
                self._read()
            except BusUnavailableError as error:
                if not self._is_away:
                    self._ports.tell(f"{error}; waiting for it")
                self._is_away = True
                self._pass_time()
                self._stop.wait(_RETRY_SECONDS)

    def _read(self) -> None:
        """Until the end. Raises BusUnavailableError."""
        bus = self._ports.bus
        subscriptions: list[Subscription] = []
        try:
            subscriptions.append(bus.subscribe([Topic.TELEMETRY], Start.LATEST))
            subscriptions.append(bus.subscribe([Topic.EVENTS], Start.EARLIEST))
            telemetry, events = subscriptions
            while not self._is_over():
                batches = telemetry.poll(_POLL_SECONDS)
                self._take(events.poll(0.0))  # an event is older than the batch of its second
                self._take(batches)
                self._pass_time()
            self._ports.settle()
            self._drain(events)
            self._drain(telemetry)
        finally:
            for subscription in subscriptions:
                subscription.close()

    def _drain(self, subscription: Subscription) -> None:
        deadline = self._ports.clock.monotonic_seconds() + _RETRY_SECONDS
        while messages := subscription.poll(0.0):
            self._take(messages)
            if self._ports.clock.monotonic_seconds() > deadline:
                return

    def _take(self, messages: Sequence[Message]) -> None:
        if messages and self._is_away:
            self._is_away = False
            self._ports.tell("the bus is back")
        now = self._ports.clock.wall_seconds()
        for message in messages:
            self._capture.take(message, now)

    def _pass_time(self) -> None:
        now = self._ports.clock.monotonic_seconds()
        if now >= self._flush_at:
            self._flush_at = now + self._config.flush_seconds
            self._shelf.flush(self._ports.clock.wall_seconds())
        if now - self._told_at >= self._config.progress_seconds:
            self._told_at = now
            self._ports.note(progress_line(self._shelf))

    def _is_over(self) -> bool:
        return self._stop.is_set() or self._ports.clock.monotonic_seconds() >= self._ends


def progress_line(shelf: Shelf) -> str:
    """What has been recorded, for people."""
    status = shelf.status()
    waiting = f", {status.waiting} waiting" if status.waiting else ""
    lost = f", {status.lost} lost" if status.lost else ""
    rows = counted(status.rows, "row")
    return f"recorded: {rows}, {counted(status.events, 'event')}{waiting}{lost}"


def _read(message: Message) -> TelemetryBatch | Event:
    """What a message says. Raises ContractError."""
    if message.topic is Topic.EVENTS:
        return Event.from_json(message.payload)
    return read_batch(message.payload)
