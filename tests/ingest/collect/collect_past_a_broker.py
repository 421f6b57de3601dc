"""Collect over a Kafka broker that dies and comes back without its memory; prints what it found."""

from __future__ import annotations

import json
import sys
import threading
import time
from functools import partial
from pathlib import Path

from ingest.collect.imagined import Host, TakesAsItIs
from paramedic.ingest.agent.clock import SystemClock
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.bus.development_broker import development_broker
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.collect.configuration import CollectConfig
from paramedic.ingest.collect.service import run
from paramedic.ingest.contract import Event, Topic
from paramedic.ingest.sources.port import Sink, StopSignal

HOSTS = [Host(name, labels={"hpc_job": "j"}) for name in "ab"]
BEFORE_SECONDS, AWAY_SECONDS, AFTER_SECONDS = 8.0, 7.0, 6.0


class EverySecond:
    """A source that reads two hosts once a second."""

    name = "hosts"

    def __init__(self, cleaner: TakesAsItIs) -> None:
        self._cleaner = cleaner

    def run(self, sink: Sink, stop: StopSignal) -> None:
        while not stop.is_set():
            now = int(time.time())
            for host in HOSTS:
                sink.page(self._cleaner.raw(host.page(now)))
            stop.wait(now + 1.05 - time.time())


def said_again(bus: KafkaBus) -> list[object]:
    events = [Event.from_json(message.payload) for message in bus.held(Topic.EVENTS)]
    return [event.details.get("state") or event.node for event in events]


def main() -> None:
    """Run the scenario in the folder named by the first argument."""
    folder = Path(sys.argv[1])
    cleaner, stop, lines = TakesAsItIs(), threading.Event(), list[str]()
    with development_broker(folder / "first.log") as first:
        bus = KafkaBus(KafkaSettings((f"127.0.0.1:{first.port}",), partitions=3))
        tell = lines.append
        work = partial(run, CollectConfig(), [EverySecond(cleaner)], cleaner, bus, SystemClock())
        thread = threading.Thread(target=work, args=(stop, tell, lambda _line: None))
        thread.start()
        time.sleep(BEFORE_SECONDS)
        cut_at = int(time.time())
    time.sleep(AWAY_SECONDS)
    with development_broker(folder / "second.log", port=first.port):
        time.sleep(AFTER_SECONDS)
        stop.set()
        thread.join(10.0)
        seconds = sorted({decode(m.payload).second for m in bus.held(Topic.TELEMETRY)})
        found = {
            "lines": lines,
            "events": said_again(bus),
            "missing": sorted(set(range(cut_at + 1, seconds[-1])) - set(seconds)),
            "seconds": len(seconds),
        }
    print(json.dumps(found), flush=True)  # noqa: T201 (the test reads it)


if __name__ == "__main__":
    main()
