"""Runs the product's `collect` in real time on pages that were rendered before it begins.

The pages are those of the synthetic cluster's dcgm-exporters, some seconds of every node, and come
again and again, stamped with the time at which they are handed over: parsing, cleaning, finding the
job, assembling and publishing are the product's, the network and the HTTP client are left out
(`scraping.py` measures them). When each second of each shard was given to the producer is noted in
a file, a line each.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from serving import bus_at, note

from paramedic.ingest.agent.clock import SystemClock
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
from paramedic.ingest.collect.configuration import CollectConfig
from paramedic.ingest.collect.service import run
from paramedic.ingest.collect.status import CollectStatus
from paramedic.ingest.contract import Publisher, Start, Subscription, Topic
from paramedic.ingest.exposition.parser import ExpositionParser
from paramedic.ingest.sources.port import Sink, StopSignal
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import ClusterConfig, Shape
from paramedic.ingest.synthetic.exposition.dialects import Dialect
from paramedic.ingest.synthetic.exposition.gpu_page import Attribution, GpuPages

DIFFERENT_SECONDS = 6
FIRST_OFFSET = 120
"""The job trains by then."""
SPREAD_SECONDS = 0.7
"""Pages are asked for over this share of each second, as the scraper does."""
METRICS = 20
PORTION = 20
"""Pages between two looks at the clock."""

Page = tuple[str, ...]
"""What a node's exporter says in each of the different seconds."""


def rendered(nodes: int, gpus: int) -> list[Page]:
    """Pages of all nodes with so many metrics; counters begin anew whenever they come again."""
    cluster = SyntheticCluster(ClusterConfig(shape=Shape(nodes=nodes, gpus=gpus)))
    pages = GpuPages(cluster.config, cluster.layout, Dialect.CLASSIC, Attribution.HPC_JOB)
    seconds = [
        [_shortened(pages.render(second, node)) for node in range(nodes)]
        for second in cluster.seconds(FIRST_OFFSET, DIFFERENT_SECONDS)
    ]
    return list(zip(*seconds, strict=True))


def _shortened(page: str) -> str:
    """The first metrics of a page."""
    begins = [at for at in range(len(page)) if page.startswith("# HELP", at)]
    return page if len(begins) <= METRICS else page[: begins[METRICS]]


class RenderedPages:
    """Hands every node's page over once a second (a Source)."""

    name = "rendered pages"

    def __init__(self, pages: Sequence[Page], begin: int) -> None:
        """The first pages are of second `begin` (Unix)."""
        self._pages = pages
        self._parsers = [ExpositionParser(f"node-{at}:9400") for at in range(len(pages))]
        self._begin = begin
        self.behind_seconds = 0.0
        """The longest that a page was late."""

    def run(self, sink: Sink, stop: StopSignal) -> None:
        """Until told to stop."""
        second = self._begin
        while not stop.wait(max(0.0, second - time.time())):
            for first in range(0, len(self._pages), PORTION):
                due = second + SPREAD_SECONDS * first / len(self._pages)
                stop.wait(max(0.0, due - time.time()))
                self.behind_seconds = max(self.behind_seconds, time.time() - due)
                self._hand_over(sink, first, second, due)
            second += 1

    def _hand_over(self, sink: Sink, first: int, second: int, taken_seconds: float) -> None:
        for node in range(first, min(first + PORTION, len(self._pages))):
            text = self._pages[node][second % DIFFERENT_SECONDS]
            sink.page(self._parsers[node].parse(text, taken_seconds))


@dataclass(frozen=True, slots=True)
class NotingBus:
    """A bus whose publishers note when each batch of telemetry was given to them."""

    bus: KafkaBus
    notes: IO[str]

    def publisher(self) -> Publisher:
        """As always, and a line for each batch."""
        return _NotingPublisher(self.bus.publisher(), self.notes)

    def subscribe(self, topics: Sequence[Topic], start: Start) -> Subscription:
        """As always."""
        return self.bus.subscribe(topics, start)


class _NotingPublisher:
    def __init__(self, publisher: Publisher, notes: IO[str]) -> None:
        self._publisher = publisher
        self._notes = notes
        self.flush: Callable[[float], None] = publisher.flush
        self.close: Callable[[], None] = publisher.close

    def publish(self, topic: Topic, key: str, payload: bytes) -> None:
        if topic is Topic.TELEMETRY:
            batch = decode(payload)
            rows = sum(len(table.nodes) for table in batch.tables)
            line = [batch.second, batch.shard, time.time(), rows]
            self._notes.write(json.dumps(line) + "\n")
            self._notes.flush()
        self._publisher.publish(topic, key, payload)


def main() -> None:
    """Render, then collect until the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--broker", required=True)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--notes", type=Path, required=True)
    chosen = parser.parse_args()
    pages = rendered(chosen.nodes, chosen.gpus)
    begin = int(time.time()) + 2
    source, stop = RenderedPages(pages, begin), threading.Event()
    threading.Timer(begin + chosen.seconds - time.time(), stop.set).start()
    looks: list[Callable[[], CollectStatus]] = []
    sys.stdout.write(f"{begin}\n")
    sys.stdout.flush()
    with chosen.notes.open("w") as notes:
        bus = NotingBus(bus_at(chosen.broker, chosen.prefix), notes)
        cleaner = TelemetryCleaner()
        run(CollectConfig(), [source], cleaner, bus, SystemClock(), stop, note, note, looks.append)
    note(f"pages were at most {source.behind_seconds:.2f} s late; {looks[0]()}")


if __name__ == "__main__":
    main()
