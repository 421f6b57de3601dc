"""Messages that cannot be read, among many that can, at a real broker: none stops the stream."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diagnosis.routing.storm import Sink
from paramedic.diagnosis.routing.ledger import SlotKey
from paramedic.diagnosis.service import DiagnoseConfig, run
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.json_form import write_json
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.contract import (
    DeadLetter,
    Entity,
    JobName,
    NodeName,
    Start,
    Table,
    TelemetryBatch,
    Topic,
)
from servers.kafka_broker import kafka_broker

_LOG = logging.getLogger(__name__)
JOB = JobName("large")
FIRST = 1_780_000_000
SHARDS = 2
PATIENCE_SECONDS = 600.0
GOOD = encode(TelemetryBatch(JOB, 0, FIRST, ()))
POISON = (
    (Topic.TELEMETRY, b""),
    (Topic.TELEMETRY, b"\x00\xff nonsense"),
    (Topic.TELEMETRY, GOOD[:-3]),
    (Topic.TELEMETRY, b"PTB1\x07" + GOOD[5:]),
    (Topic.TELEMETRY, b'{"job": "large", "second": "noon", "tables": []}'),
    (Topic.TELEMETRY, b"x" * 300_000),
    (Topic.EVENTS, b"{}"),
    (Topic.EVENTS, b'{"timestamp": "now", "kind": "xid", "job": "large"}'),
    (Topic.SLOTS, b"PTB1"),
    (Topic.EVENTS, b"[" * 2000),
)


def batch(second: int, shard: int) -> TelemetryBatch:
    node = NodeName(f"node-{shard:04d}")
    table = Table(Entity.NODE, (node,), None, {"load_average": (float(second % 7),)})
    return TelemetryBatch(JOB, 0, FIRST + second, (table,), shard, SHARDS)


def publish_all(bus: KafkaBus, seconds: int, poison: int) -> None:
    """Every shard's batch of every second, one in ten as JSON, and poison evenly between them."""
    publisher, spread = bus.publisher(), seconds * SHARDS // poison
    for number in range(seconds * SHARDS):
        second, shard = divmod(number, SHARDS)
        good = batch(second, shard)
        payload = write_json(good) if number % 10 == 0 else encode(good)
        publisher.publish(Topic.TELEMETRY, f"{JOB}/{shard}", payload)
        if number % spread == 0:
            topic, nonsense = POISON[number // spread % len(POISON)]
            publisher.publish(topic, f"{JOB}/{shard}", nonsense)
    publisher.flush(PATIENCE_SECONDS)
    publisher.close()


@contextmanager
def diagnosing(bus: KafkaBus) -> Iterator[None]:
    stop = threading.Event()
    config = DiagnoseConfig(group="poison", commit_seconds=1.0)
    worker = threading.Thread(target=run, args=(config, bus, time.monotonic, stop))
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join(60.0)


@pytest.mark.parametrize(
    ("good", "poison"),
    [
        pytest.param(4_000, 40, marks=pytest.mark.connected),
        pytest.param(100_000, 1_000, marks=[pytest.mark.soak, pytest.mark.timeout(1500)]),
    ],
)
def test_all_poison_is_put_away_and_all_else_is_delivered(
    tmp_path: Path, good: int, poison: int
) -> None:
    seconds = good // SHARDS
    with kafka_broker(tmp_path) as server:
        bus = KafkaBus(KafkaSettings((server,), f"poison-{good}", partitions=4))
        publish_all(bus, seconds, poison)
        started = time.monotonic()
        with diagnosing(bus):
            sink = Sink(bus.subscribe([Topic.SLOTS], Start.EARLIEST), skips_unreadable=True)
            expected = {
                SlotKey(JOB, shard, FIRST + second, 0)
                for second in range(seconds)
                for shard in range(SHARDS)
            }
            sink.read_until(lambda: len(sink.slots) == len(expected), PATIENCE_SECONDS)
            took = time.monotonic() - started
        letters = [DeadLetter.from_json(one.payload) for one in bus.held(Topic.DEAD_LETTER)]
        sink.subscription.close()
    assert sink.slots == expected
    assert len(letters) == poison
    assert {(letter.topic, letter.payload_bytes) for letter in letters} == {
        (topic, len(payload)) for topic, payload in POISON
    }
    assert all(letter.reason for letter in letters)
    _LOG.info("%d good and %d poison messages in %.1f s", good, poison, took)
