"""A service is alive while its loop turns and its bus answers."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.wiring.liveness import BeatingBus, BeatingStop, Pulse
from paramedic.ingest.bus.embedded.broker import EmbeddedBroker
from paramedic.ingest.bus.embedded.client import EmbeddedBus
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import BusUnavailableError, Start, Topic


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.tuples(st.floats(0, 100), st.booleans()), max_size=20))
def test_it_is_alive_as_long_as_the_last_sign_is_young(passing: list[tuple[float, bool]]) -> None:
    clock = Clock()
    pulse, last = Pulse(clock, limit_seconds=30.0), clock.now
    for seconds, beats in passing:
        clock.now += seconds
        if beats:
            pulse.beat()
            last = clock.now
        assert pulse.is_alive() == (clock.now - last <= 30.0)


def test_a_loop_that_asks_whether_to_end_is_alive() -> None:
    clock, event = Clock(), threading.Event()
    pulse = Pulse(clock)
    stop = BeatingStop(event, pulse)
    clock.now += 31.0
    assert not pulse.is_alive()
    assert not stop.is_set()
    assert pulse.is_alive()
    event.set()
    assert stop.is_set()
    assert stop.wait(0.0)


def test_a_loop_that_only_waits_gives_no_sign() -> None:
    clock = Clock()
    pulse = Pulse(clock)
    clock.now += 31.0
    BeatingStop(threading.Event(), pulse).wait(0.0)
    assert not pulse.is_alive()


def test_a_silent_bus_is_alive_and_one_that_fails_is_not() -> None:
    clock, bus = Clock(), MemoryBus()
    pulse = Pulse(clock)
    subscription = BeatingBus(bus, pulse).subscribe([Topic.EVENTS], Start.EARLIEST)
    clock.now += 31.0
    assert subscription.poll(0.0) == []
    assert pulse.is_alive()
    clock.now += 31.0
    bus.fail("gone")
    with pytest.raises(BusUnavailableError):
        subscription.poll(0.0)
    assert not pulse.is_alive()


def test_polls_that_come_back_empty_while_the_broker_is_away_are_no_sign(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "bus.sock"
    pulse = Pulse(clock)
    with EmbeddedBroker(path):
        bus = BeatingBus(EmbeddedBus(path), pulse)
        subscription = bus.subscribe([Topic.EVENTS], Start.EARLIEST)
    clock.now += 31.0
    assert [subscription.poll(0.0) for _ in range(2)] == [[], []]
    assert not pulse.is_alive()
    with EmbeddedBroker(path):
        subscription.poll(0.1)
        assert pulse.is_alive()
        subscription.close()


def test_letting_go_reaches_the_bus() -> None:
    bus = MemoryBus()
    subscription = BeatingBus(bus, Pulse(Clock())).subscribe([Topic.EVENTS], Start.EARLIEST)
    subscription.close()
    with pytest.raises(BusUnavailableError):
        subscription.poll(0.0)


def test_messages_pass_through_unchanged() -> None:
    bus = BeatingBus(MemoryBus(), Pulse(Clock()))
    subscription = bus.subscribe([Topic.EVENTS], Start.EARLIEST)
    publisher = bus.publisher()
    publisher.publish(Topic.EVENTS, "train/0", b"x")
    assert [one.payload for one in subscription.poll(1.0)] == [b"x"]
    subscription.close()
    publisher.close()
