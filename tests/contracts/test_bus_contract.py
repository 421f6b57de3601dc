"""What every bus promises: the same suite for the one in memory, the embedded one and Kafka."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from paramedic.ingest.bus.embedded.broker import EmbeddedBroker
from paramedic.ingest.bus.embedded.client import EmbeddedBus
from paramedic.ingest.bus.embedded.link import Patience, Timing
from paramedic.ingest.bus.limits import KEY_LIMIT_BYTES, PAYLOAD_LIMIT_BYTES
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import (
    Bus,
    BusUnavailableError,
    ContractError,
    Start,
    Topic,
)
from servers.arrivals import ARRIVAL_SECONDS, arrivals
from servers.kafka_broker import kafka_broker


@dataclass(frozen=True)
class Kind:
    """A bus that works, and one whose broker is not there."""

    bus: Bus
    unavailable: Bus


@contextmanager
def memory(_folder: Path) -> Iterator[Kind]:
    unavailable = MemoryBus()
    unavailable.fail("as the test wants it")
    yield Kind(MemoryBus(), unavailable)


@contextmanager
def embedded(folder: Path) -> Iterator[Kind]:
    impatient = Timing(Patience(connect_seconds=0.1))
    with EmbeddedBroker(folder / "bus.sock") as broker:
        yield Kind(EmbeddedBus(broker.path), EmbeddedBus(folder / "nobody.sock", impatient))


@contextmanager
def local(folder: Path) -> Iterator[Kind]:
    """The supervisor's own way onto the embedded bus."""
    with embedded(folder) as kind, EmbeddedBroker(folder / "local.sock") as broker:
        yield Kind(broker.bus(), kind.unavailable)


@contextmanager
def kafka(folder: Path) -> Iterator[Kind]:
    from paramedic.ingest.bus.kafka import KafkaBus
    from paramedic.ingest.bus.kafka_settings import KafkaSettings

    with kafka_broker(folder) as server:
        prefix = f"test-{uuid.uuid4().hex[:12]}"
        yield Kind(
            KafkaBus(KafkaSettings((server,), prefix)),
            KafkaBus(KafkaSettings(("127.0.0.1:1",), connect_seconds=0.5)),
        )


@pytest.fixture(
    params=[memory, embedded, local, pytest.param(kafka, marks=pytest.mark.connected)],
    ids=lambda param: param.__name__,
)
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kind]:
    with request.param(tmp_path) as kind:
        yield kind


@pytest.fixture
def bus(kind: Kind) -> Bus:
    return kind.bus


def publish(bus: Bus, topic: Topic, messages: Sequence[tuple[str, bytes]]) -> None:
    publisher = bus.publisher()
    for key, payload in messages:
        publisher.publish(topic, key, payload)
    publisher.flush(ARRIVAL_SECONDS)
    publisher.close()


def numbered(keys: Sequence[str], count: int) -> list[tuple[str, bytes]]:
    return [(keys[n % len(keys)], str(n).encode()) for n in range(count)]


def test_a_message_arrives_as_it_was_published(bus: Bus) -> None:
    subscription = bus.subscribe([Topic.EVENTS], Start.LATEST)
    publish(bus, Topic.EVENTS, [("jöb/0", b"\x00\xffpayload")])
    (message,) = arrivals(subscription, 1)
    subscription.close()
    assert (message.topic, message.key, message.payload) == (
        Topic.EVENTS,
        "jöb/0",
        b"\x00\xffpayload",
    )


def test_empty_keys_and_payloads_arrive_too(bus: Bus) -> None:
    publish(bus, Topic.EVENTS, [("", b"")])
    subscription = bus.subscribe([Topic.EVENTS], Start.EARLIEST)
    (message,) = arrivals(subscription, 1)
    subscription.close()
    assert (message.key, message.payload) == ("", b"")


def test_the_messages_of_each_key_keep_their_order(bus: Bus) -> None:
    keys = [f"job-{n}/0" for n in range(5)]
    subscription = bus.subscribe([Topic.TELEMETRY], Start.LATEST)
    publish(bus, Topic.TELEMETRY, numbered(keys, 500))
    messages = arrivals(subscription, 500)
    subscription.close()
    assert len(messages) == 500
    for key in keys:
        order = [int(message.payload) for message in messages if message.key == key]
        assert order == sorted(order)
        assert len(order) == 100


def test_offsets_grow_within_a_partition(bus: Bus) -> None:
    publish(bus, Topic.TELEMETRY, numbered(["a", "b", "c"], 60))
    subscription = bus.subscribe([Topic.TELEMETRY], Start.EARLIEST)
    messages = arrivals(subscription, 60)
    subscription.close()
    for partition in {message.partition for message in messages}:
        offsets = [message.offset for message in messages if message.partition == partition]
        assert offsets == sorted(set(offsets))


def test_every_subscription_sees_everything(bus: Bus) -> None:
    subscriptions = [bus.subscribe([Topic.VERDICTS], Start.LATEST) for _ in range(3)]
    publish(bus, Topic.VERDICTS, numbered(["job"], 20))
    for subscription in subscriptions:
        payloads = [message.payload for message in arrivals(subscription, 20)]
        assert payloads == [str(n).encode() for n in range(20)]
        subscription.close()


def test_a_subscription_sees_its_topics_and_no_others(bus: Bus) -> None:
    subscription = bus.subscribe([Topic.EVENTS, Topic.VERDICTS], Start.LATEST)
    publish(bus, Topic.TELEMETRY, [("k", b"telemetry")])
    publish(bus, Topic.EVENTS, [("k", b"event")])
    publish(bus, Topic.VERDICTS, [("k", b"verdict")])
    messages = arrivals(subscription, 2)
    subscription.close()
    assert {(message.topic, message.payload) for message in messages} == {
        (Topic.EVENTS, b"event"),
        (Topic.VERDICTS, b"verdict"),
    }


def test_earliest_begins_with_what_the_bus_holds(bus: Bus) -> None:
    publish(bus, Topic.EVENTS, [("k", b"before")])
    subscription = bus.subscribe([Topic.EVENTS], Start.EARLIEST)
    publish(bus, Topic.EVENTS, [("k", b"after")])
    payloads = [message.payload for message in arrivals(subscription, 2)]
    subscription.close()
    assert payloads == [b"before", b"after"]


def test_latest_begins_when_the_subscription_is_made(bus: Bus) -> None:
    publish(bus, Topic.EVENTS, [("k", b"before")])
    subscription = bus.subscribe([Topic.EVENTS], Start.LATEST)
    publish(bus, Topic.EVENTS, [("k", b"after")])
    payloads = [message.payload for message in arrivals(subscription, 1)]
    subscription.close()
    assert payloads == [b"after"]


def test_a_poll_without_messages_returns_at_its_timeout(bus: Bus) -> None:
    subscription = bus.subscribe([Topic.EVENTS], Start.LATEST)
    started = time.monotonic()
    assert list(subscription.poll(0.2)) == []
    assert 0.15 < time.monotonic() - started < 2
    started = time.monotonic()
    assert list(subscription.poll(0.0)) == []
    assert time.monotonic() - started < 1
    subscription.close()


def test_a_waiting_poll_returns_as_soon_as_a_message_arrives(bus: Bus) -> None:
    subscription = bus.subscribe([Topic.EVENTS], Start.LATEST)
    publisher = bus.publisher()
    later = threading.Timer(0.1, publisher.publish, (Topic.EVENTS, "k", b"news"))
    started = time.monotonic()
    later.start()
    messages = subscription.poll(10.0)
    later.join()
    publisher.close()
    subscription.close()
    assert [message.payload for message in messages] == [b"news"]
    assert time.monotonic() - started < 5


def test_a_megabyte_arrives_whole(bus: Bus) -> None:
    payload = bytes(range(256)) * 4096
    subscription = bus.subscribe([Topic.TELEMETRY], Start.LATEST)
    publish(bus, Topic.TELEMETRY, [("k", payload)] * 3)
    messages = arrivals(subscription, 3)
    subscription.close()
    assert [message.payload == payload for message in messages] == [True] * 3


@pytest.mark.parametrize(
    ("key", "payload"),
    [
        ("k", bytes(PAYLOAD_LIMIT_BYTES + 1)),
        ("k" * (KEY_LIMIT_BYTES + 1), b""),
        ("\ud800", b""),
    ],
    ids=["payload too large", "key too large", "key not text"],
)
def test_a_message_that_breaks_the_limits_is_refused_and_the_next_is_not(
    bus: Bus, key: str, payload: bytes
) -> None:
    publisher = bus.publisher()
    with pytest.raises(ContractError, match="key"):
        publisher.publish(Topic.EVENTS, key, payload)
    publisher.publish(Topic.EVENTS, "k", b"fine")
    publisher.flush(ARRIVAL_SECONDS)
    publisher.close()
    subscription = bus.subscribe([Topic.EVENTS], Start.EARLIEST)
    payloads = [message.payload for message in arrivals(subscription, 1)]
    subscription.close()
    assert payloads == [b"fine"]


@pytest.mark.long
def test_many_messages_all_arrive_once(bus: Bus) -> None:
    subscription = bus.subscribe([Topic.TELEMETRY], Start.LATEST)
    publish(bus, Topic.TELEMETRY, numbered(["only"], 2000))
    messages = arrivals(subscription, 2000)
    subscription.close()
    assert [int(message.payload) for message in messages] == list(range(2000))


def test_a_publisher_serves_several_threads(bus: Bus) -> None:
    subscription = bus.subscribe([Topic.TELEMETRY], Start.LATEST)
    publisher = bus.publisher()

    def work(key: str) -> None:
        for n in range(100):
            publisher.publish(Topic.TELEMETRY, key, str(n).encode())

    threads = [threading.Thread(target=work, args=(f"thread-{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    publisher.flush(ARRIVAL_SECONDS)
    publisher.close()
    messages = arrivals(subscription, 400)
    subscription.close()
    for n in range(4):
        order = [int(message.payload) for message in messages if message.key == f"thread-{n}"]
        assert order == list(range(100))


def test_closing_twice_is_harmless_and_a_closed_end_says_so(bus: Bus) -> None:
    publisher, subscription = bus.publisher(), bus.subscribe([Topic.EVENTS], Start.LATEST)
    for _ in range(2):
        publisher.close()
        subscription.close()
    with pytest.raises(BusUnavailableError, match="closed"):
        publisher.publish(Topic.EVENTS, "k", b"")
    with pytest.raises(BusUnavailableError, match="closed"):
        subscription.poll(0)


@pytest.mark.parametrize(
    "use",
    [lambda bus: bus.publisher(), lambda bus: bus.subscribe([Topic.EVENTS], Start.LATEST)],
    ids=["publisher", "subscription"],
)
def test_a_broker_that_is_not_there_is_reported_soon_and_in_one_line(
    kind: Kind, use: Callable[[Bus], object]
) -> None:
    started = time.monotonic()
    with pytest.raises(BusUnavailableError) as caught:
        use(kind.unavailable)
    assert time.monotonic() - started < 3
    assert "\n" not in str(caught.value)
