"""Publishes a large and a small job, some seconds of theirs a second, until it is told to stop.

Rank 2 of both is slow from the second minute on.

Prints how many seconds were published once the broker has accepted all of them.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from diagnosis.playing import Fact
from diagnosis.routing.crew import sharded
from diagnosis.synthetic import Scene, job_state
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.contract import Event, JobName, Publisher, Topic

SMALL = JobName("small")
_FLUSH_SECONDS = 100.0


def publish(publisher: Publisher, fact: Fact) -> None:
    if isinstance(fact, Event):
        publisher.publish(Topic.EVENTS, f"{fact.job}/0", fact.to_json())
    else:
        publisher.publish(Topic.TELEMETRY, f"{fact.job}/{fact.shard}", encode(fact))


def main(server: str, prefix: str, pause_seconds: str, seconds: str) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    settings = KafkaSettings((server,), prefix, partitions=4, reconnect_seconds=100.0)
    publisher = KafkaBus(settings).publisher()
    training = job_state("training", 0)
    for event in (training, replace(training, job=SMALL)):
        publish(publisher, event)
    published = 0
    scene = Scene(seconds=int(seconds), slow={2: 3.0}, slow_from=60)
    for batch in scene.batches():
        for part in (*sharded(batch), replace(batch, job=SMALL)):
            publish(publisher, part)
        published += 1
        if stop.wait(float(pause_seconds)):
            break
    publisher.flush(_FLUSH_SECONDS)
    publisher.close()
    print(published, flush=True)  # noqa: T201 (the test reads it)


if __name__ == "__main__":
    main(*sys.argv[1:])
