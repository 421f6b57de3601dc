"""Topics that vanish, grow or are too small, a broker that takes its time: Kafka by script."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from paramedic.ingest.bus import kafka_publisher
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_publisher import KafkaPublisher
from paramedic.ingest.bus.kafka_settings import KafkaCompression, KafkaSettings
from paramedic.ingest.contract import (
    BusUnavailableError,
    Message,
    Publisher,
    Start,
    Subscription,
    Topic,
)
from servers.scripted_kafka import (
    ALREADY_EXISTS,
    INVALID_RECORD,
    NOT_AUTHORIZED,
    ScriptedKafka,
    scripted_kafka,
)

PATIENCE_SECONDS = 60.0
EVENTS = "paramedic.events.v1"


@pytest.fixture
def broker() -> Iterator[ScriptedKafka]:
    with scripted_kafka() as broker:
        yield broker


@pytest.fixture
def settings(broker: ScriptedKafka) -> KafkaSettings:
    server = f"127.0.0.1:{broker.address[1]}"
    return KafkaSettings(
        (server,),
        partitions=2,
        compression=KafkaCompression.NONE,
        connect_seconds=2.0,
        reconnect_seconds=0.4,
        refresh_seconds=0.1,
    )


@pytest.fixture
def publisher(settings: KafkaSettings) -> Iterator[KafkaPublisher]:
    publisher = KafkaBus(settings).publisher()
    yield publisher
    publisher.close()


def read_until(subscription: Subscription, enough: Callable[[list[Message]], bool]) -> list[bytes]:
    messages: list[Message] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not enough(messages) and time.monotonic() < deadline:
        messages.extend(subscription.poll(0.1))
    return [message.payload for message in messages]


def publish(publisher: Publisher, *payloads: bytes) -> None:
    for payload in payloads:
        publisher.publish(Topic.EVENTS, "k", payload)
    publisher.flush(PATIENCE_SECONDS)


def held(settings: KafkaSettings) -> list[bytes]:
    return [message.payload for message in KafkaBus(settings).held(Topic.EVENTS)]


def test_topics_are_made_with_room_for_the_largest_message(
    broker: ScriptedKafka, settings: KafkaSettings, publisher: Publisher
) -> None:
    wanted = {topic.qualified() for topic in Topic}
    assert broker.topics == dict.fromkeys(wanted, 2)
    room = str(settings.message_limit_bytes)
    assert {made["max.message.bytes"] for made in broker.settings.values()} == {room}


def test_topics_are_made_with_the_retention_of_each(
    broker: ScriptedKafka, settings: KafkaSettings
) -> None:
    short = replace(settings, retention_seconds={Topic.EVENTS: 100.0, Topic.TELEMETRY: 2.0})
    KafkaBus(short).publisher().close()
    assert broker.settings[EVENTS]["retention.ms"] == "100000"
    assert broker.settings[EVENTS]["segment.ms"] == "25000"
    assert broker.settings["paramedic.telemetry.v1"]["segment.ms"] == "1000"
    assert "retention.ms" not in broker.settings["paramedic.verdicts.v1"]


def test_a_topic_that_another_process_has_just_made_is_used(
    broker: ScriptedKafka, settings: KafkaSettings
) -> None:
    broker.creation_error = ALREADY_EXISTS
    publisher = KafkaBus(settings).publisher()
    publish(publisher, b"taken")
    publisher.close()


def test_topics_that_may_not_be_made_are_named_with_what_to_do(
    broker: ScriptedKafka, settings: KafkaSettings
) -> None:
    broker.creation_error = NOT_AUTHORIZED
    with pytest.raises(BusUnavailableError, match="create them there with 2 partitions") as caught:
        KafkaBus(settings).publisher()
    assert all(topic.qualified() in str(caught.value) for topic in Topic)


@pytest.mark.long
def test_a_batch_above_the_topics_limit_is_reported_once_and_the_next_is_taken(
    broker: ScriptedKafka, settings: KafkaSettings, publisher: Publisher
) -> None:
    broker.limit_bytes = 1000
    with pytest.raises(BusUnavailableError) as caught:
        publish(publisher, bytes(5000))
    limit = settings.message_limit_bytes
    remedy = f"larger than its topic allows: set max.message.bytes there to {limit}"
    assert str(caught.value).endswith(remedy)
    publish(publisher, b"small enough")
    subscription = KafkaBus(settings).subscribe([Topic.EVENTS], Start.EARLIEST)
    assert read_until(subscription, bool) == [b"small enough"]
    subscription.close()


@pytest.mark.long
def test_a_topic_that_vanishes_is_made_again_and_gets_what_was_on_its_way(
    broker: ScriptedKafka, settings: KafkaSettings, publisher: KafkaPublisher
) -> None:
    publish(publisher, b"before")
    del broker.topics[EVENTS]
    broker.settings.clear()
    publish(publisher, b"meanwhile", b"after")
    assert broker.topics[EVENTS] == 2
    assert broker.settings == {EVENTS: settings.topic_options(Topic.EVENTS)["configs"]}
    assert (publisher.bus_resets, publisher.lost_messages) == (1, 0)
    assert held(settings)[-2:] == [b"meanwhile", b"after"]


def test_a_broker_whose_offsets_begin_again_has_forgotten_everything_once(
    broker: ScriptedKafka, publisher: KafkaPublisher
) -> None:
    keys = [f"key-{number}" for number in range(6)]
    for resets in (0, 1, 2):
        for key in 2 * keys:
            publisher.publish(Topic.EVENTS, key, b"x")
            publisher.publish(Topic.TELEMETRY, key, b"x")
            publisher.flush(PATIENCE_SECONDS)
        assert publisher.bus_resets == resets
        broker.forget()


def test_a_reader_of_a_broker_that_has_forgotten_reads_it_from_its_beginning(
    broker: ScriptedKafka, settings: KafkaSettings, publisher: KafkaPublisher
) -> None:
    now = [0.0]
    subscription = KafkaBus(settings, clock=lambda: now[0]).subscribe([Topic.EVENTS], Start.LATEST)
    publish(publisher, *(b"before" for _ in range(9)))
    assert len(read_until(subscription, lambda messages: len(messages) == 9)) == 9
    broker.forget()
    publish(publisher, b"after")

    def look_later(messages: list[Message]) -> bool:
        now[0] += 2.0
        return bool(messages)

    assert read_until(subscription, look_later) == [b"after"]
    subscription.close()


@pytest.mark.long
def test_what_a_broker_refuses_again_and_again_is_counted_and_the_rest_is_taken(
    broker: ScriptedKafka, settings: KafkaSettings, publisher: KafkaPublisher
) -> None:
    broker.limit_bytes, broker.limit_error = 1000, INVALID_RECORD
    publisher.publish(Topic.EVENTS, "k", bytes(5000))
    with pytest.raises(BusUnavailableError, match="1 messages were not taken"):
        publisher.flush(PATIENCE_SECONDS)
    publish(publisher, b"small enough")
    assert publisher.lost_messages == 1
    assert held(settings) == [b"small enough"]


@pytest.mark.long
def test_what_was_not_acknowledged_is_sent_again_before_what_comes_later(
    broker: ScriptedKafka, settings: KafkaSettings, publisher: KafkaPublisher
) -> None:
    broker.acknowledges.clear()
    sent = [str(number).encode() for number in range(3)]
    for payload in sent:
        publisher.publish(Topic.EVENTS, "k", payload)
    with pytest.raises(BusUnavailableError, match="3 messages are not acknowledged"):
        publisher.flush(1.0)
    broker.acknowledges.set()
    publish(publisher, b"later")
    assert list(dict.fromkeys(held(settings))) == [*sent, b"later"]
    assert (publisher.bus_resets, publisher.lost_messages) == (0, 0)


@pytest.mark.connected  # its time-outs take a second
def test_a_topic_that_vanishes_is_noticed_by_its_reader_in_bounded_time(
    broker: ScriptedKafka, settings: KafkaSettings
) -> None:
    later_seconds = [0.0]
    bus = KafkaBus(settings, clock=lambda: time.monotonic() + later_seconds[0])
    subscription = bus.subscribe([Topic.EVENTS], Start.LATEST)
    del broker.topics[EVENTS]
    assert list(subscription.poll(0.1)) == [], "it may come back"
    later_seconds[0] = 100.0
    with pytest.raises(BusUnavailableError, match=f"went silent about {EVENTS}"):
        subscription.poll(0.1)
    assert list(subscription.poll(0.1)) == [], "it is asked now and then, and not at every poll"
    assert not subscription.bus_answers
    subscription.close()
    again = bus.subscribe([Topic.EVENTS], Start.LATEST)
    assert broker.topics[EVENTS] == 2
    again.close()


@pytest.mark.long
def test_partitions_that_are_added_are_written_to_and_read_from_their_beginning(
    broker: ScriptedKafka, settings: KafkaSettings, publisher: Publisher
) -> None:
    subscription = KafkaBus(settings).subscribe([Topic.EVENTS], Start.LATEST)
    broker.topics[EVENTS] = 6
    sent = 0

    def partitions(messages: list[Message]) -> set[int]:
        return {message.partition for message in messages}

    def enough(messages: list[Message]) -> bool:
        nonlocal sent
        if len(partitions(messages)) < 4:
            for _ in range(8):
                publisher.publish(Topic.EVENTS, f"key-{sent}", str(sent).encode())
                sent += 1
        return len(messages) == sent

    payloads = read_until(subscription, enough)
    subscription.close()
    assert sorted(map(int, payloads)) == list(range(sent))


@pytest.mark.connected  # its time-outs take a second
def test_a_broker_that_acknowledges_nothing_is_not_filled_without_end(
    broker: ScriptedKafka, settings: KafkaSettings
) -> None:
    patient = replace(
        settings, in_flight_limit_bytes=3000, connect_seconds=1.0, reconnect_seconds=30.0
    )
    publisher = KafkaBus(patient).publisher()
    broker.acknowledges.clear()
    for _ in range(3):
        publisher.publish(Topic.TELEMETRY, "k", bytes(1000))
    started = time.monotonic()
    with pytest.raises(BusUnavailableError, match="3 messages are not acknowledged"):
        publisher.publish(Topic.TELEMETRY, "k", b"one more")
    assert time.monotonic() - started < 5.0
    broker.acknowledges.set()
    publisher.flush(PATIENCE_SECONDS)
    publisher.publish(Topic.TELEMETRY, "k", b"one more")
    publisher.close()


def test_who_waits_for_a_broker_that_acknowledges_nothing_is_told_so(
    broker: ScriptedKafka,
    settings: KafkaSettings,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kafka_publisher, "_SAY_SECONDS", 0.02)
    publisher = KafkaBus(replace(settings, reconnect_seconds=30.0)).publisher()
    broker.acknowledges.clear()
    publisher.publish(Topic.TELEMETRY, "k", b"held back")
    with pytest.raises(BusUnavailableError, match="1 messages are not acknowledged"):
        publisher.flush(0.1)
    broker.acknowledges.set()
    publisher.close()
    assert "since 0 s, 1 messages are not acknowledged" in caplog.text
