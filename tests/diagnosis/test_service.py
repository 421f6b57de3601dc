"""The diagnosis process over the in-memory bus: messages in, verdicts out, whatever comes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import count

import pytest

from diagnosis.flight_recorder.test_named_by_dumps import dumped, standing
from diagnosis.playing import Fact, diagnose, merged
from diagnosis.synthetic import JOB, Scene, exit_of, job_state, node_name
from paramedic.diagnosis.contract import Fault, Verdict
from paramedic.diagnosis.service import DiagnoseConfig, run
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import BusUnavailableError, DeadLetter, Event, JobName, Start, Topic

pytestmark = pytest.mark.long


CONFIG = DiagnoseConfig(poll_seconds=0.0)


def _nothing(turn: int) -> None:
    """Between two turns nothing happens."""


class StopAfter:
    """A stop signal that lets the loop turn so many times."""

    def __init__(self, turns: int, then: Callable[[int], None] = _nothing) -> None:
        self._turns = turns
        self._then = then
        self._asked = 0

    def is_set(self) -> bool:
        self._asked += 1
        self._then(self._asked)
        return self._asked > self._turns


def publish(bus: MemoryBus, facts: Sequence[Fact]) -> None:
    publisher = bus.publisher()
    for fact in facts:
        if isinstance(fact, Event):
            publisher.publish(Topic.EVENTS, fact.job, fact.to_json())
        else:
            publisher.publish(Topic.TELEMETRY, f"{fact.job}/0", encode(fact))


def serve(
    bus: MemoryBus,
    stop: StopAfter | None = None,
    look: Callable[[], Sequence[Event]] = tuple,
) -> list[Verdict]:
    """Everything that a run of the process published."""
    verdicts = bus.subscribe([Topic.VERDICTS], Start.LATEST)
    ticks = count()
    run(CONFIG, bus, lambda: float(next(ticks)), stop or StopAfter(8), look=look)
    return [Verdict.from_json(message.payload) for message in verdicts.poll(0)]


def dead_letters(bus: MemoryBus) -> list[DeadLetter]:
    letters = bus.subscribe([Topic.DEAD_LETTER], Start.EARLIEST).poll(0)
    return [DeadLetter.from_json(letter.payload) for letter in letters]


def test_an_exit_becomes_a_verdict(caplog: pytest.LogCaptureFixture) -> None:
    bus = MemoryBus()
    publish(bus, merged(Scene(seconds=20).batches(), [exit_of(1, 15.5)]))
    with caplog.at_level(logging.INFO):
        (verdict,) = serve(bus)
    assert (verdict.node, verdict.fault) == (node_name(1), Fault.PROCESS_EXIT)
    assert [r.message for r in caplog.records if verdict.id in r.message]


def test_an_exit_that_comes_while_it_runs_is_judged_in_the_next_turn() -> None:
    bus = MemoryBus()
    publish(bus, Scene(seconds=20).batches())
    later = StopAfter(8, lambda turn: publish(bus, [exit_of(1, 20.1)]) if turn == 6 else None)
    (verdict,) = serve(bus, later)
    assert verdict.fault is Fault.PROCESS_EXIT


def test_dumps_that_are_found_become_events_on_the_bus_and_a_verdict() -> None:
    bus, found = MemoryBus(), [dumped(2)]
    events = bus.subscribe([Topic.EVENTS], Start.LATEST)
    publish(bus, standing())
    (verdict,) = serve(bus, StopAfter(20), lambda: [found.pop()] if found else [])
    assert (verdict.node, verdict.fault) == (node_name(2), Fault.HANG)
    (told,) = events.poll(0)
    assert (told.key, Event.from_json(told.payload).rank) == (f"{JOB}/0", 2)


def test_it_decides_what_the_detector_decides() -> None:
    facts = merged(Scene(seconds=90, slow={2: 2.0}).batches(), [job_state("training", 0)])
    bus = MemoryBus()
    publish(bus, facts)
    # The wire carries most metrics as 32-bit floats, so their last digits differ.
    told, expected = (
        [(v.id, v.status, v.node, v.onset, v.summary) for v in verdicts]
        for verdicts in (serve(bus), diagnose(facts))
    )
    assert told == expected != []


def test_a_restarted_process_says_the_same_again() -> None:
    bus = MemoryBus()
    publish(bus, merged(Scene(seconds=80, frozen={2: 60}).batches(), [exit_of(1, 50.5)]))
    first = serve(bus)
    assert len(first) == 2
    assert serve(bus) == first


def test_a_backlog_gives_what_the_live_stream_gave() -> None:
    facts = merged(
        Scene(seconds=90, slow={3: 2.2}).batches(), [job_state("training", 0), exit_of(1, 80.5)]
    )
    live = MemoryBus()
    waiting = iter(facts)

    def feed(turn: int) -> None:
        publish(live, [fact for fact in [next(waiting, None)] if fact is not None])

    seen = serve(live, StopAfter(2 * len(facts), feed))
    assert len(seen) == 2
    assert serve(live) == seen


def test_each_job_has_a_detector_of_its_own() -> None:
    bus = MemoryBus()
    other = Event.from_json(exit_of(2, 15.5).to_json().replace(JOB.encode(), b"other"))
    publish(bus, [exit_of(1, 15.5), other])
    assert {(v.job, v.node) for v in serve(bus)} == {
        (JOB, node_name(1)),
        (JobName("other"), node_name(2)),
    }


@pytest.mark.parametrize("topic", [Topic.TELEMETRY, Topic.EVENTS])
def test_what_cannot_be_read_goes_to_the_dead_letters_and_the_rest_goes_on(topic: Topic) -> None:
    bus = MemoryBus()
    bus.publisher().publish(topic, "key", b"\x00 no message")
    publish(bus, [exit_of(1, 15.5)])
    assert len(serve(bus)) == 1
    (letter,) = dead_letters(bus)
    assert (letter.topic, letter.key) == (topic, "key")
    assert letter.reason
    assert letter.payload == b"\x00 no message"


def test_a_bus_that_is_gone_ends_the_process_with_a_clear_line() -> None:
    bus = MemoryBus()
    gone = StopAfter(8, lambda turn: bus.fail("pulled the plug") if turn == 4 else None)
    with pytest.raises(BusUnavailableError, match=r"lost the bus.*pulled the plug"):
        serve(bus, gone)


def test_it_ends_when_told_to_before_anything_has_come() -> None:
    assert serve(MemoryBus(), StopAfter(0)) == []
