"""Other tools' topics at a real broker: read from now on, through its absence."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from kafka import KafkaProducer

from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.sources.kafka_topics.consumer import KafkaRecords, Record
from paramedic.ingest.sources.kafka_topics.source import KafkaTopicsSource, MessageFormat
from paramedic.ingest.sources.port import SourceAwayError
from servers.kafka_broker import kafka_broker
from servers.telemetry_sink import Running, running

pytestmark = [pytest.mark.connected, pytest.mark.timeout(180)]
TOPIC = "telegraf-metrics"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kafka_broker(tmp_path_factory.mktemp("kafka")) as address:
        yield address


@pytest.fixture
def producer(broker: str) -> Iterator[KafkaProducer]:
    producer = KafkaProducer(bootstrap_servers=[broker])
    yield producer
    producer.close()


def records(broker: str, topic: str = TOPIC) -> KafkaRecords:
    return KafkaRecords(KafkaSettings((broker,), connect_seconds=5), [topic], time.monotonic)


def measurement(second: int, value: float = 1.0) -> bytes:
    fields = {"DCGM_FI_DEV_GPU_TEMP": value}
    told = {"name": "prometheus", "tags": {"gpu": "0"}, "fields": fields, "timestamp": second}
    return json.dumps(told).encode()


def say(producer: KafkaProducer, *payloads: bytes) -> None:
    for payload in payloads:
        producer.send(TOPIC, payload)
    producer.flush(timeout=30)


def heard_within(run: Running, producer: KafkaProducer, payload: bytes, seconds: float) -> bool:
    """Say it until it is heard: only what comes after the topic was opened counts."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        say(producer, payload)
        if run.sink.wait_for(lambda: bool(run.sink.pages), 1):
            return True
    return False


def test_measurements_become_pages_and_poison_is_put_away(
    broker: str, producer: KafkaProducer
) -> None:
    say(producer, measurement(1))
    put_away: list[Record] = []
    source = KafkaTopicsSource(
        TOPIC,
        MessageFormat.TELEGRAF,
        lambda: records(broker),
        lambda record, _: put_away.append(record),
        time.time,
    )
    with running(source) as run:
        assert heard_within(run, producer, measurement(int(time.time())), 60)
        say(producer, b"poison")
        assert run.sink.wait_for(lambda: bool(run.sink.pages))
        deadline = time.monotonic() + 20
        while not put_away and time.monotonic() < deadline:
            run.stop.wait(0.1)
        assert run.end() < 5
    assert [(one.topic, one.payload) for one in put_away] == [(TOPIC, b"poison")]
    assert min(page.taken_seconds for page in run.sink.pages) > 1
    assert run.sink.pages[0].series[0].name == "DCGM_FI_DEV_GPU_TEMP"


def test_a_topic_that_does_not_exist_is_named(broker: str) -> None:
    with pytest.raises(SourceAwayError, match="no-such-topic"):
        records(broker, "no-such-topic")


def test_a_broker_that_is_away_is_named() -> None:
    settings = KafkaSettings(("127.0.0.1:1",), connect_seconds=0.2)
    with pytest.raises(SourceAwayError, match=r"127\.0\.0\.1:1"):
        KafkaRecords(settings, [TOPIC], time.monotonic)
