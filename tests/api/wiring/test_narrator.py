"""The narrator says each thing once, and that the bus is gone once."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from paramedic.api.wiring.narration import Theme, lines_of_job, narrate
from paramedic.api.wiring.narrator import Narrator
from paramedic.diagnosis.contract import Verdict
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import (
    BusUnavailableError,
    Event,
    EventKind,
    JobName,
    Message,
    NodeName,
    Start,
    Subscription,
    Topic,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def event(job: str = "train", generation: int = 0, **details: str | int | bool) -> Event:
    return Event(NOON, EventKind.JOB_STATE, JobName(job), generation=generation, details=details)


def subscriber(bus: MemoryBus) -> Callable[[Sequence[Topic]], Subscription]:
    return lambda topics: bus.subscribe(topics, Start.EARLIEST)


def test_states_of_the_job_are_told_and_those_of_others_are_not() -> None:
    bus, out = MemoryBus(), io.StringIO()
    publisher = bus.publisher()
    publisher.publish(Topic.EVENTS, "a/0", event(state="starting").to_json())
    publisher.publish(Topic.EVENTS, "a/0", event(job="other", state="finished").to_json())
    narrator = Narrator(lines_of_job("train"), subscriber(bus), out, poll_seconds=0.01)
    narrator.start()
    narrator.close(10.0)
    assert out.getvalue() == "paramedic: event: job is starting (generation 0)\n"


def test_a_message_is_told_once_even_if_the_bus_hands_it_out_again() -> None:
    out = io.StringIO()
    narrator = Narrator(lines_of_job("train"), subscriber(MemoryBus()), out)
    message = Message(Topic.EVENTS, "train/0", event(state="starting").to_json(), 4)
    narrator.tell([message, message])
    narrator.tell([message])
    assert out.getvalue().count("\n") == 1


def test_what_cannot_be_read_is_said_and_passed_over() -> None:
    out = io.StringIO()
    narrator = Narrator(lines_of_job("train"), subscriber(MemoryBus()), out)
    narrator.tell(
        [
            Message(Topic.EVENTS, "train/0", b"nonsense", 1),
            Message(Topic.VERDICTS, "train/0", b"{}", 2),
        ]
    )
    assert out.getvalue().count("cannot be read") == 2


def test_a_dead_bus_is_told_once_and_never_blocks_the_end() -> None:
    out = io.StringIO()
    tries = threading.Semaphore(0)

    def subscribe(_topics: Sequence[Topic]) -> Subscription:
        tries.release()
        raise BusUnavailableError("dead")

    narrator = Narrator(lines_of_job("train"), subscribe, out, retry_seconds=0.001)
    narrator.start()
    assert all(tries.acquire(timeout=10.0) for _ in range(3))
    narrator.close(10.0)
    assert out.getvalue().count("the bus does not answer") == 1


@pytest.mark.parametrize(
    ("generation", "theme"), [(0, Theme.EVENT), (1, Theme.RECOVERY), (2, Theme.RECOVERY)]
)
def test_training_is_a_recovery_only_after_the_first_generation(
    generation: int, theme: Theme
) -> None:
    line = narrate(event(generation=generation, state="training", step=3))
    assert line is not None
    assert line.theme is theme


def test_the_expected_end_of_a_spare_is_not_worth_a_line() -> None:
    ended = Event(
        NOON,
        EventKind.PROCESS_EXIT,
        JobName("train"),
        NodeName("node-0004"),
        details={"signal": 9, "expected": True},
    )
    assert narrate(ended) is None


def test_what_is_on_the_bus_at_the_end_is_told_before_it_is_over() -> None:
    bus, out = MemoryBus(), io.StringIO()
    publisher = bus.publisher()
    for generation in range(300):
        publisher.publish(Topic.EVENTS, "a/0", event(generation=generation, state="x").to_json())
    narrator = Narrator(lines_of_job("train"), subscriber(bus), out, poll_seconds=0.01)
    narrator.start()
    narrator.close(10.0)
    assert out.getvalue().count("\n") == 300


def test_a_bus_that_comes_back_is_told_on_and_nothing_twice() -> None:
    bus, out = MemoryBus(), io.StringIO()
    heard, tried = threading.Semaphore(0), threading.Semaphore(0)
    publisher = bus.publisher()

    def hear(said: Event | Verdict) -> list[str]:
        heard.release()
        return [f"generation {said.generation}"]

    def subscribe(topics: Sequence[Topic]) -> Subscription:
        tried.release()
        return bus.subscribe(topics, Start.EARLIEST)

    narrator = Narrator(
        hear, subscribe, out, 0.01, retry_seconds=0.001, consolation="the jobs are not touched"
    )
    publisher.publish(Topic.EVENTS, "a/0", event(generation=1, state="x").to_json())
    narrator.start()
    assert heard.acquire(timeout=10.0)
    bus.fail("gone")
    assert all(tried.acquire(timeout=10.0) for _ in range(2))
    bus.heal()
    publisher.publish(Topic.EVENTS, "a/0", event(generation=2, state="x").to_json())
    assert heard.acquire(timeout=10.0)
    narrator.close(10.0)
    assert out.getvalue().splitlines() == [
        "paramedic: generation 1",
        "paramedic: the bus does not answer; the jobs are not touched",
        "paramedic: generation 2",
    ]
