"""The bus of a run: never waited for, nothing lost for a flood of something else."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from paramedic.api.settings.schema import BusSettings, Settings
from paramedic.api.wiring import bus as wiring
from paramedic.api.wiring.bus import check_bus, run_bus
from paramedic.api.wiring.errors import PreflightError
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import (
    Bus,
    BusAddressError,
    BusSettingError,
    Publisher,
    Start,
    Subscription,
    Topic,
)

NOWHERE = Path("/nonexistent")


def settings(address: str) -> Settings:
    return Settings(bus=BusSettings(address, connect_timeout_seconds=0.1))


@dataclass
class SlowBus:
    """Lets publishers in when the gate opens; what they bring lies in memory."""

    memory: MemoryBus = field(default_factory=MemoryBus)
    gate: threading.Event = field(default_factory=threading.Event)

    def publisher(self) -> Publisher:
        assert self.gate.wait(10.0)
        return self.memory.publisher()

    def subscribe(self, topics: Sequence[Topic], start: Start) -> Subscription:
        return self.memory.subscribe(topics, start)


def stored(bus: Bus, *topics: Topic) -> list[bytes]:
    found: list[bytes] = []
    subscription = bus.subscribe(topics, Start.EARLIEST)
    while messages := subscription.poll(0.0):
        found += [message.payload for message in messages]
    return found


def test_what_is_published_before_the_end_is_on_the_bus_after_it() -> None:
    bus = MemoryBus()
    with wiring._remote("kafka://x:1", bus) as run:
        for number in range(50):
            run.publish(Topic.EVENTS, "train/0", b"event %d" % number)
            run.publish(Topic.TELEMETRY, "train/0", b"batch %d" % number)
    assert stored(bus, Topic.EVENTS) == [b"event %d" % number for number in range(50)]
    assert stored(bus, Topic.TELEMETRY) == [b"batch %d" % number for number in range(50)]
    assert run.address == "kafka://x:1"


def test_a_flood_of_telemetry_drops_its_oldest_and_no_event() -> None:
    bus = SlowBus()
    flood = 2 * wiring._TELEMETRY_KEPT
    with wiring._remote("kafka://x:1", bus) as run:
        run.publish(Topic.EVENTS, "train/0", b"the first of all")
        for number in range(flood):
            run.publish(Topic.TELEMETRY, "train/0", b"%d" % number)
        run.publish(Topic.VERDICTS, "train/0", b"a verdict")
        bus.gate.set()
    kept = stored(bus, Topic.TELEMETRY)
    assert wiring._TELEMETRY_KEPT <= len(kept) <= wiring._TELEMETRY_KEPT + 1
    assert kept[-1] == b"%d" % (flood - 1)
    assert sorted(stored(bus, Topic.EVENTS, Topic.VERDICTS)) == [b"a verdict", b"the first of all"]


def test_whoever_subscribes_hears_what_was_said_before() -> None:
    bus = MemoryBus()
    bus.publisher().publish(Topic.EVENTS, "train/0", b"before")
    with wiring._remote("kafka://x:1", bus) as run:
        (message,) = run.subscribe([Topic.EVENTS]).poll(0.0)
    assert message.payload == b"before"


def test_no_thread_of_it_stays_behind() -> None:
    before = set(threading.enumerate())
    with wiring._remote("kafka://x:1", MemoryBus()):
        assert len(set(threading.enumerate()) - before) == 2
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize("address", ["kafka://a:99999", "kafka://a:1?speed=fast"])
def test_an_address_that_no_broker_can_have_is_refused_at_once(address: str) -> None:
    with pytest.raises(BusAddressError, match="valid are"):
        check_bus(settings(address), {})
    with pytest.raises(BusAddressError):
        run_bus(settings(address), {}, NOWHERE, NOWHERE)


def test_security_that_lacks_a_secret_is_refused_before_a_broker_is_asked() -> None:
    chosen = Settings(bus=BusSettings("kafka://127.0.0.1:1"))
    kafka = type(chosen.kafka)(security_protocol="sasl_plaintext", sasl_username="me")
    with pytest.raises(BusSettingError, match="a password"):
        check_bus(Settings(bus=chosen.bus, kafka=kafka), {})


def test_the_socket_of_another_run_is_not_taken_over() -> None:
    with pytest.raises(PreflightError) as refused:
        check_bus(settings("unix:/tmp/paramedic-x/bus.sock"), {})
    assert str(refused.value) == (
        "bus unix:/tmp/paramedic-x/bus.sock belongs to another run: "
        "use embedded, kafka or kafka://HOST:PORT"
    )
