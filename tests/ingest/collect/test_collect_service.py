"""From sources to the bus: whole, in order, and whatever becomes of either end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import pytest

from ingest.collect.imagined import START, Host, TakesAsItIs, page_of
from paramedic.ingest.agent.clock import FakeClock
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.collect.configuration import CollectConfig
from paramedic.ingest.collect.errors import NoSourceLeftError
from paramedic.ingest.collect.inbox import Inbox
from paramedic.ingest.collect.service import Collect, CollectPorts, run
from paramedic.ingest.collect.status import CollectStatus
from paramedic.ingest.contract import (
    Event,
    EventKind,
    Message,
    NodeName,
    Start,
    Subscription,
    Topic,
)
from paramedic.ingest.sources.port import NodeFact, RawPage, Sink, SourceError, StopSignal

J = {"hpc_job": "j"}


class ScriptedSource:
    """Hands over what it was given, or fails; then ends, or waits for the end."""

    name = "scripted"

    def __init__(
        self, script: Callable[[Sink], None], *, ends: bool = True, error: Exception | None = None
    ) -> None:
        self._script = script
        self._ends = ends
        self._error = error

    def run(self, sink: Sink, stop: StopSignal) -> None:
        self._script(sink)
        if self._error is not None:
            raise self._error
        if not self._ends:
            stop.wait(30)


def nothing(_sink: Sink) -> None:
    """A source without anything to say."""


def hand_over(sink: Sink, pages: Sequence[RawPage]) -> None:
    for page in pages:
        sink.page(page)


def wait_for(subscription: Subscription, messages: int) -> None:
    seen, deadline = 0, time.monotonic() + 30
    while seen < messages and time.monotonic() < deadline:
        seen += len(subscription.poll(1.0))


class Session:
    """One run of collect over a memory bus."""

    def __init__(self) -> None:
        self.bus = MemoryBus()
        self.cleaner = TakesAsItIs()
        self.clock = FakeClock(START + 100.0)
        self.lines: list[str] = []
        self.stop = threading.Event()
        self.status: Callable[[], CollectStatus] = CollectStatus

    def run(self, *sources: ScriptedSource, config: CollectConfig | None = None) -> None:
        run(
            config or CollectConfig(),
            sources,
            self.cleaner,
            self.bus,
            self.clock,
            self.stop,
            self.lines.append,
            self.lines.append,
            self._watch,
        )

    def pages(self, host: Host, seconds: int) -> Callable[[Sink], None]:
        raw = [self.cleaner.raw(host.page(START + second)) for second in range(seconds)]
        return lambda sink: hand_over(sink, raw)

    def messages(self, topic: Topic) -> Sequence[Message]:
        return self.bus.subscribe([topic], Start.EARLIEST).poll(0.0)

    def _watch(self, status: Callable[[], CollectStatus]) -> None:
        self.status = status


def test_pages_become_batches_and_events_with_the_keys_of_their_job() -> None:
    session = Session()
    session.run(ScriptedSource(session.pages(Host("a", labels=J), 20)))
    batches = session.messages(Topic.TELEMETRY)
    assert {message.key for message in batches} == {"j/0"}
    assert [decode(message.payload).second - START for message in batches] == list(range(3, 20))
    events = [Event.from_json(message.payload) for message in session.messages(Topic.EVENTS)]
    assert [event.details.get("state", "joined") for event in events] == [
        "starting",
        "joined",
        "training",
    ]


def test_facts_from_beside_the_pages_and_from_silence_become_events() -> None:
    session = Session()
    session.cleaner.blind = (
        NodeFact(
            START + 9.0, EventKind.TELEMETRY, NodeName("a"), details={"change": "source_blind"}
        ),
    )
    pages = session.pages(Host("a", labels=J), 10)

    def script(sink: Sink) -> None:
        pages(sink)
        sink.fact(NodeFact(START + 9.0, EventKind.XID, NodeName("a"), 0, {"code": 48}))
        sink.silent("a", NodeName("a"), "refused")

    session.run(ScriptedSource(script))
    kinds = [Event.from_json(m.payload).kind for m in session.messages(Topic.EVENTS)]
    assert kinds[-2:] == [EventKind.XID, EventKind.TELEMETRY]


def test_when_every_source_can_never_work_collect_ends_and_says_why() -> None:
    session = Session()
    bad = ScriptedSource(nothing, error=SourceError("http://x answers with HTTP 404"))
    with pytest.raises(NoSourceLeftError, match="HTTP 404"):
        session.run(bad)
    with pytest.raises(NoSourceLeftError, match="no source"):
        session.run()


def test_one_source_that_cannot_work_does_not_end_the_others() -> None:
    session = Session()
    bad = ScriptedSource(nothing, error=SourceError("no such file"))
    good = ScriptedSource(session.pages(Host("a", labels=J), 10))
    with pytest.raises(NoSourceLeftError, match="no such file"):
        session.run(bad, good)
    assert len(session.messages(Topic.TELEMETRY)) == 7
    assert "scripted: no such file" in session.lines


def test_a_bus_that_is_away_at_first_gets_everything_when_it_comes() -> None:
    session = Session()
    session.bus.fail("not yet")
    script = session.pages(Host("a", labels=J), 20)

    def heal_later(sink: Sink) -> None:
        script(sink)
        session.bus.heal()
        wait_for(session.bus.subscribe([Topic.TELEMETRY], Start.EARLIEST), 17)

    session.run(ScriptedSource(heal_later), config=CollectConfig(settle_seconds=0))
    assert len(session.messages(Topic.TELEMETRY)) == 17


class Desk:
    """The line of work alone, over a bus that forgets when a test says so."""

    def __init__(self) -> None:
        self.clock = FakeClock(START + 100.0)
        self.lines: list[str] = []
        self.told: list[Event] = []
        self.resets = 0
        self.cleaner = cleaner = TakesAsItIs()
        wall = self.clock.wall_seconds
        inbox = Inbox(10_000, 0.0, wait=lambda _condition, _seconds: True, wall=wall)
        self.inbox = inbox
        ports = CollectPorts(
            cleaner,
            self.clock,
            self.lines.append,
            self.lines.append,
            self._publish,
            resets=lambda: self.resets,
            forgotten=lambda: 70 * self.resets,
        )
        self.collect = Collect(CollectConfig(), ports, inbox)
        for second in range(20):
            inbox.page(cleaner.raw(Host("a", labels=J).page(START + second)))

    def turn(self, seconds_later: float) -> list[Event]:
        """What is told in this turn."""
        self.told.clear()
        self.clock.pass_time(seconds_later)
        self.collect.turn()
        return list(self.told)

    def _publish(self, topic: Topic, _key: str, payload: bytes) -> None:
        if topic is Topic.EVENTS:
            self.told.append(Event.from_json(payload))


def test_a_bus_that_comes_back_empty_is_told_once_more_what_holds() -> None:
    desk = Desk()
    first = desk.turn(1.0)
    assert [one.details.get("state", "joined") for one in first][-1] == "training"
    desk.resets = 1
    assert desk.turn(1.0) == first
    assert desk.turn(1.0) == []
    (line,) = [line for line in desk.lines if "come back" in line]
    assert line.startswith("the bus has come back without the 70 messages")
    assert line.endswith("what is known of 1 job is told to it again")
    status = desk.collect.status()
    assert (status.bus_resets, status.forgotten_messages) == (1, 70)


def test_what_holds_is_told_again_before_a_bus_forgets_it_with_time() -> None:
    desk = Desk()
    first = desk.turn(1.0)
    hours = [desk.turn(3600.0) for _ in range(13)]
    assert [hour for hour in hours if hour] == [first, first]
    assert not [line for line in desk.lines if "come back" in line]


def test_a_silence_that_waits_for_its_turn_is_judged_by_when_it_was_said() -> None:
    desk = Desk()
    desk.turn(1.0)
    desk.inbox.silent("a", NodeName("a"), "timed out")
    desk.turn(30.0)
    assert desk.cleaner.silences == [("a", START + 101.0)]


def test_the_snapshot_counts_what_was_done() -> None:
    session = Session()
    session.run(ScriptedSource(session.pages(Host("a", labels=J), 20)))
    status = session.status()
    assert (status.pages, status.batches, status.events) == (20, 17, 3)
    assert status.unpublished_rows == {"measuring": 6}
    assert status.lag_seconds == 81.0
    assert status.jobs["j"].is_training  # type: ignore[index]  # a JobName is a str


def test_a_batch_that_the_format_does_not_take_costs_itself_only() -> None:
    session = Session()
    hosts = [Host("x" * 300, labels=J), Host("a", labels={"hpc_job": "k"})]
    pages = [
        session.cleaner.raw(page_of(hosts, START + second, "prometheus")) for second in range(6)
    ]
    session.run(ScriptedSource(lambda sink: hand_over(sink, pages)))
    assert {message.key for message in session.messages(Topic.TELEMETRY)} == {"k/0"}
    assert session.status().dropped["batch"] == 3
