"""The collect process: sources in threads, one line of work behind them, batches on the bus.

    sources ──▶ inbox ──▶ cleaner ──▶ router (jobs, slots) ──▶ assembler ──▶ outboxes ──▶ bus

Jobs, members and cadences follow from the pages; nothing is stored, and a process that starts anew
finds them again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.key import message_key
from paramedic.ingest.bus.outbox import Outbox
from paramedic.ingest.collect.assembling import Assembler
from paramedic.ingest.collect.chronicle import Chronicle
from paramedic.ingest.collect.inbox import Inbox, Item, Silence
from paramedic.ingest.collect.reporting import Reporter
from paramedic.ingest.collect.routing import Router
from paramedic.ingest.collect.sourcing import SourceThreads
from paramedic.ingest.collect.status import CollectStatus, JobStatus, progress_line
from paramedic.ingest.contract import ContractError, EventKind, JobState, Topic
from paramedic.ingest.sources.port import NodeFact, RawPage

if TYPE_CHECKING:
    from paramedic.ingest.agent.clock import Clock
    from paramedic.ingest.cleaning.port import Cleaner
    from paramedic.ingest.collect.configuration import CollectConfig
    from paramedic.ingest.contract import Bus, Event, TelemetryBatch
    from paramedic.ingest.sources.port import Source, StopSignal

_LOG = logging.getLogger(__name__)
_LONGEST_WAIT_SECONDS = 0.2
_LOOK_SECONDS = 0.2
_EVENTS_KEPT = 10_000
_BATCHES_KEPT = 100_000
_CLOSE_SECONDS = 2.0
_EVENTS_SHARD = 0
"""Events of a job have the key of its first shard."""


@dataclass(frozen=True, slots=True)
class CollectPorts:
    """What collect touches of the world."""

    cleaner: Cleaner
    clock: Clock
    tell: Callable[[str], None]
    """Takes one line for people: what is missing, silent or cannot work."""
    note: Callable[[str], None]
    """Takes one line for whoever wants to know more: jobs that come and go, and progress."""
    publish: Callable[[Topic, str, bytes], None]
    """Never waits."""
    trouble: Callable[[], str | None] = lambda: None
    """Why the bus takes nothing now; None while it does."""
    waiting: Callable[[], int] = lambda: 0
    """Messages that the bus has not taken yet."""
    lost: Callable[[], dict[str, int]] = dict
    """Messages that were dropped, by topic."""
    resets: Callable[[], int] = lambda: 0
    """How often the bus was found without what it had taken."""
    forgotten: Callable[[], int] = lambda: 0
    """Messages that it had taken before, at most."""


def run(
    config: CollectConfig,
    sources: Sequence[Source],
    cleaner: Cleaner,
    bus: Bus,
    clock: Clock,
    stop: StopSignal,
    tell: Callable[[str], None],
    note: Callable[[str], None],
    watch: Callable[[Callable[[], CollectStatus]], None] = lambda _status: None,
) -> None:
    """Collect until told to stop; `watch` is given a way to look at what has been done.

    Raises NoSourceLeftError when every source has ended by itself. A bus that is away ends nothing.
    """
    telemetry = Outbox(
        bus.publisher,
        _BATCHES_KEPT,
        keep_seconds=config.buffer_seconds,
        clock=clock.monotonic_seconds,
    )
    events = Outbox(bus.publisher, _EVENTS_KEPT)
    ports = CollectPorts(
        cleaner=cleaner,
        clock=clock,
        tell=tell,
        note=note,
        publish=lambda topic, key, payload: (
            telemetry if topic is Topic.TELEMETRY else events
        ).offer(topic, key, payload),
        trouble=lambda: telemetry.trouble or events.trouble,
        waiting=lambda: len(telemetry) + len(events),
        lost=lambda: {
            "telemetry": telemetry.dropped + telemetry.lost,
            "events": events.dropped + events.lost,
        },
        # Telemetry flows all the time, so it shows every reset, and events most of them.
        resets=lambda: max(telemetry.bus_resets, events.bus_resets),
        forgotten=lambda: telemetry.forgotten + events.forgotten,
    )
    inbox = Inbox(config.queue_values, config.queue_wait_seconds, wall=clock.wall_seconds)
    collect = Collect(config, ports, inbox)
    watch(collect.status)
    threads = SourceThreads(sources, inbox)
    for outbox in (events, telemetry):
        outbox.start()
    threads.start()
    try:
        collect.run(stop, threads)
    finally:
        threads.close(_CLOSE_SECONDS)
        for outbox in (events, telemetry):
            outbox.close(_CLOSE_SECONDS)


@dataclass(slots=True)
class _Counts:
    pages: int = 0
    samples: int = 0
    facts: int = 0
    batches: int = 0
    events: int = 0
    refused: int = 0
    """Batches that the format does not take, such as with a name that is too long."""
    lag_seconds: float = 0.0
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)


class Collect:
    """The line of work behind the sources; for one thread, but for `status`."""

    def __init__(self, config: CollectConfig, ports: CollectPorts, inbox: Inbox) -> None:
        self._config = config
        self._ports = ports
        self._inbox = inbox
        self._router = Router(config)
        self._assembler = Assembler(config.settle_seconds)
        self._reporter = Reporter(config, ports.tell, ports.note)
        self._counts = _Counts()
        self._chronicle = Chronicle()
        self._retold_at = ports.clock.monotonic_seconds()
        self._resets = 0
        """Of the bus, as far as they were answered."""
        self._reported = (ports.clock.monotonic_seconds(), CollectStatus())
        self._status = CollectStatus()
        self._look_at = 0.0

    def run(self, stop: StopSignal, sources: SourceThreads) -> None:
        """Work until told to stop. Raises NoSourceLeftError."""
        try:
            while not stop.is_set() and sources.is_any_left():
                self.turn()
                for name, reason in sources.take_ended():
                    self._reporter.ended(name, reason)
        finally:
            self.finish()

    def turn(self) -> None:
        """Wait for something to do, and do all of it."""
        for item in self._inbox.take(self._wait_seconds()):
            self._take(item)
        self._send(self._assembler.due(self._now()))
        self._report()

    def finish(self) -> None:
        """Send what was still waiting for its second to be complete."""
        for item in self._inbox.take(0.0):
            self._take(item)
        self._send(self._assembler.due(self._now() + self._config.settle_seconds))
        self._status = self._snapshot()

    def status(self) -> CollectStatus:
        """The newest snapshot; safe from any thread."""
        return self._status

    def _take(self, item: Item) -> None:
        if isinstance(item, RawPage):
            self._take_page(item)
        elif isinstance(item, NodeFact):
            self._counts.facts += 1
            self._tell_events(self._router.facts((item,)))
        else:
            self._take_silence(item)

    def _take_page(self, raw: RawPage) -> None:
        now = self._now()
        self._reporter.heard(raw.origin, now)
        page = self._ports.cleaner.clean(raw)
        counts = self._counts
        counts.pages += 1
        counts.samples += len(raw.values)
        counts.facts += len(page.facts)
        if page.rejected:
            counts.rejected.update(page.rejected)
        events, routed = self._router.route(page)
        self._tell_events(events)
        self._send(self._assembler.add(page.origin, routed, now))
        counts.lag_seconds = self._ports.clock.wall_seconds() - raw.taken_seconds

    def _take_silence(self, silence: Silence) -> None:
        self._reporter.silent(silence.origin, silence.reason, self._now())
        # Not now: pages that are older may have waited as long, and are late and not missing.
        facts = self._ports.cleaner.silent(silence.origin, silence.said_at)
        self._counts.facts += len(facts)
        self._tell_events(self._router.facts(facts))

    def _tell_events(self, events: Sequence[Event]) -> None:
        self._chronicle.hear(events)
        for event in events:
            self._publish(event)
            if event.details.get("state") == JobState.FINISHED.value:
                self._assembler.forget(event.job)
        self._counts.events += len(events)
        if any(event.kind in (EventKind.JOB_STATE, EventKind.MEMBERSHIP) for event in events):
            self._reporter.events(events, self._snapshot)

    def _publish(self, event: Event) -> None:
        key = message_key(event.job, _EVENTS_SHARD)
        self._ports.publish(Topic.EVENTS, key, event.to_json())

    def _retell(self, now: float) -> None:
        """Tell what holds again, when the bus has forgotten it and before it does so by itself."""
        resets = self._ports.resets()
        if resets == self._resets and now - self._retold_at < self._config.retell_seconds:
            return
        if resets != self._resets:
            self._reporter.forgotten(self._chronicle.jobs, self._ports.forgotten())
        self._resets, self._retold_at = resets, now
        for event in self._chronicle.events():
            self._publish(event)

    def _send(self, batches: Iterable[TelemetryBatch]) -> None:
        for batch in batches:
            key = message_key(batch.job, batch.shard)
            try:
                self._ports.publish(Topic.TELEMETRY, key, encode(batch))
            except ContractError as error:
                self._counts.refused += 1
                _LOG.warning("a batch is not published: %s", error)
            else:
                self._counts.batches += 1

    def _report(self) -> None:
        now = self._now()
        if now < self._look_at:
            return
        self._look_at = now + _LOOK_SECONDS
        self._retell(now)
        self._status = self._snapshot()
        self._reporter.look(self._status, self._ports.trouble(), now)
        at, before = self._reported
        if now - at >= self._config.progress_seconds:
            self._ports.note(progress_line(before, self._status, now - at))
            self._reported = (now, self._status)

    def _snapshot(self) -> CollectStatus:
        counts, router = self._counts, self._router
        hosts, gpus = router.tenancy.hosts()
        return CollectStatus(
            pages=counts.pages,
            samples=counts.samples,
            facts=counts.facts,
            rejected=dict(counts.rejected),
            unpublished_rows=dict(+router.leftovers.rows),
            dropped={**self._inbox.dropped, **self._ports.lost(), "batch": counts.refused},
            bus_resets=self._ports.resets(),
            forgotten_messages=self._ports.forgotten(),
            batches=counts.batches,
            events=counts.events,
            lag_seconds=counts.lag_seconds,
            waiting_messages=self._ports.waiting(),
            silent_origins=self._reporter.silent_origins,
            silence=self._reporter.silence,
            strangers=router.strangers,
            twins=router.tenancy.twins,
            hosts=hosts,
            gpus=gpus,
            jobs={
                job: JobStatus(
                    nodes=router.tenancy.size_of(job),
                    gpus=router.tenancy.gpus_of(job),
                    sampling_seconds=life.sampling_seconds,
                    is_training=life.is_training,
                )
                for job, life in router.lives.announced.items()
            },
        )

    def _wait_seconds(self) -> float:
        due = self._assembler.next_due()
        if due is None:
            return _LONGEST_WAIT_SECONDS
        return min(max(due - self._now(), 0.0), _LONGEST_WAIT_SECONDS)

    def _now(self) -> float:
        return self._ports.clock.monotonic_seconds()
