"""From the cluster's physics to the windows of diagnosis, through everything real on the way.

    cluster ──HTTP──▶ Prometheus ──▶ paramedic collect ──▶ broker ──┬─▶ paramedic diagnose
                                                                    └─▶ windows, read here

Every value in every slot is compared with the one that was generated. `generated.py` has the rule.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from paramedic.diagnosis.ordering import StreamTime, in_order
from paramedic.diagnosis.reading import read
from paramedic.ingest.bus.address import open_bus
from paramedic.ingest.contract import Entity, EntityKey, Event, Message, Start, Topic
from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import ClusterConfig, Observation, Shape, Weather
from paramedic.ingest.synthetic.exposition.dialects import Dialect
from paramedic.ingest.synthetic.exposition.gpu_page import Attribution
from paramedic.ingest.synthetic.serving.addresses import prometheus_file
from paramedic.ingest.synthetic.serving.pages import Pages
from paramedic.ingest.synthetic.serving.server import serving
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows
from scenarios.case import PATIENCE_SECONDS, Case, wait_until
from scenarios.generated import (
    Generated,
    Scrape,
    Shown,
    scrapes_of,
    shown_in,
    stored_of,
)
from servers.kafka_broker import kafka_broker
from servers.prometheus import prometheus, prometheus_program

pytestmark = [
    pytest.mark.connected,
    pytest.mark.timeout(300),
    pytest.mark.skipif(prometheus_program() is None, reason="no prometheus program"),
]
_LOG = logging.getLogger(__name__)
NODES, GPUS = 64, 8
AGE_SECONDS = 60
PAST_SECONDS = 5.0
WATCHED_SECONDS = 35
LEAST_SLOTS = 24
PRESENT_SHARE = 0.95
LOST_SHARE = 0.15
"""What a Prometheus on a busy machine may lose before anything of ours sees it."""
SHOWN = 20
TOPICS = (Topic.TELEMETRY, Topic.EVENTS)
PROCESSES = ("collect", "diagnose")
# Errors and lost pages, often enough that half a minute has some of each.
WEATHER = Weather(
    congestion_per_day=2000.0, corrected_errors_per_gpu_day=500.0, replays_per_gpu_day=500.0
)
SIGHT = Observation(glitches_per_gpu_day=30.0, lost_scrapes_per_node_day=400.0)


def test_the_values_in_the_windows_are_those_that_the_cluster_generated(case: Case) -> None:
    config = ClusterConfig(
        seed=3, first_second=int(time.time()) - AGE_SECONDS,
        shape=Shape(nodes=NODES, gpus=GPUS), weather=WEATHER, observation=SIGHT,
    )  # fmt: skip
    folder = case.folder / "prometheus"
    folder.mkdir()
    with (
        kafka_broker(case.folder) as broker,
        served(config, case.folder / "scrape.yml") as file,
        prometheus(folder, (), config_file=file) as server,
    ):
        time.sleep(PAST_SECONDS)  # so that there is a past
        messages = watched(case, server.url, f"kafka://{broker}?prefix=values-{os.getpid()}")
        stored = {entity: stored_of(server.url, entity) for entity in (Entity.GPU, Entity.NODE)}
        lived = int(time.time()) - config.first_second + 1
    generated = Generated(SyntheticCluster(config), lived)
    scrapes = {entity: scrapes_of(stored[entity], generated, entity) for entity in stored}
    told = {entity: window_values(messages, generated, entity) for entity in scrapes}
    for entity, of_nodes in scrapes.items():
        assert {page_lag(config, one) for node in of_nodes for one in node} <= {0, 1}
        slots = told[entity].slots
        compared = compare(told[entity], generated, entity, shown_in(of_nodes, slots))
        _LOG.info("%s, %d slots: %s", entity, len(slots), compared)
        assert len(slots) >= LEAST_SLOTS, f"{entity}: {compared}"
        assert compared.wrong == (), f"{entity}: {compared}"
        assert compared.right >= PRESENT_SHARE * compared.generated, f"{entity}: {compared}"
        lost_share = compared.doubtful_share + compared.unseen_share
        assert lost_share <= LOST_SHARE, f"{entity}: {compared}"


@contextmanager
def served(config: ClusterConfig, file: Path) -> Iterator[Path]:
    """The cluster's exporters; gives a configuration of Prometheus that scrapes them all."""
    ready, over = threading.Event(), threading.Event()

    async def serve() -> None:
        cluster = SyntheticCluster(config)
        cluster.second(AGE_SECONDS)
        pages = Pages(cluster, Dialect.CLASSIC, Attribution.HPC_JOB, time.time)
        async with serving(pages, cluster.layout.nodes, 0) as addresses:
            await asyncio.to_thread(file.write_text, prometheus_file(addresses))
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(PATIENCE_SECONDS), "the exporters are not there"
        yield file
    finally:
        over.set()
        thread.join(10)


def watched(case: Case, prometheus_url: str, bus_address: str) -> list[Message]:
    """What collect has put on the bus in half a minute, while diagnose reads it too."""
    flags = {"collect": ("--prometheus", prometheus_url), "diagnose": ()}
    processes = [case.start(name, *flags[name], "--bus", bus_address) for name in PROCESSES]
    until = int(time.time()) + WATCHED_SECONDS
    messages: list[Message] = []

    def has_all() -> bool:
        messages.extend(subscription.poll(0.2))
        return any(second_of(one) >= until for one in messages[-20:])

    with closing(open_bus(bus_address).subscribe(TOPICS, Start.EARLIEST)) as subscription:
        wait_until(has_all, "half a minute of telemetry was on the bus", 120)
    for process, name in zip(processes, PROCESSES, strict=True):
        assert process.poll() is None, f"{name} ended: {process.communicate()}"
        process.send_signal(signal.SIGTERM)
    for process, name in zip(processes, PROCESSES, strict=True):
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0, f"{name}: {errors}"
        assert "Traceback" not in errors, f"{name}: {errors}"
    return messages


def second_of(message: Message) -> int:
    """The second of a batch; 0 of everything else."""
    fact = read(message).fact
    return 0 if isinstance(fact, Event) else fact.second


@dataclass(frozen=True)
class Told:
    """The newest slot of every window that closed."""

    slots: range
    values: Floats
    """(slots, nodes × GPUs or nodes, metrics); NaN where nothing is observed."""


def window_values(messages: Sequence[Message], generated: Generated, entity: Entity) -> Told:
    """Feed windows as diagnosis does. Fails on rows and metrics that the cluster does not have."""
    job = generated.config.job
    windows, stream = JobWindows(WindowConfig(), job), StreamTime()
    metrics = {metric: at for at, metric in enumerate(generated.metrics(entity))}
    rows = {key: at for at, key in enumerate(keys_of(generated, entity))}
    columns: dict[int, Floats] = {}
    for arrival in in_order([read(message) for message in messages]):
        if isinstance(arrival.fact, Event):
            windows.membership(arrival.fact)
            continue
        now = stream.see(arrival.fact)
        windows.accept(arrival.fact, now)
        for second in windows.advance(now):
            window = windows.window_at(entity, second)
            column = columns[second] = np.full((len(rows), len(metrics)), np.nan)
            places = [rows[key] for key in window.rows], [metrics[name] for name in window.metrics]
            column[np.ix_(*places)] = window.values[:, :, -1]
    slots = range(min(columns), max(columns) + 1)
    return Told(slots, np.stack([columns[slot] for slot in slots]))


def keys_of(generated: Generated, entity: Entity) -> list[EntityKey]:
    """The keys of a window's rows, node by node."""
    gpus: Sequence[int | None] = range(GPUS) if entity is Entity.GPU else (None,)
    return [EntityKey(entity, node, gpu) for node in generated.nodes for gpu in gpus]


def page_lag(config: ClusterConfig, scrape: Scrape) -> int:
    """How many seconds after the scrape began the exporter's page is from."""
    return config.first_second + scrape.offset - int(scrape.began)


@dataclass(frozen=True)
class Compared:
    """What became of the values."""

    generated: int
    """Values in the slots of the pages that Prometheus has stored, doubtful ones left out."""
    right: int
    wrong: tuple[str, ...]
    """The first of them; also what is observed although no page said it."""
    doubtful_share: float
    """Of all slots and nodes."""
    unseen_share: float
    """Of all slots and nodes, those without a page."""


def compare(told: Told, generated: Generated, entity: Entity, shown: Shown) -> Compared:
    """Every value of every slot with the one that was generated."""
    metrics, keys = generated.metrics(entity), keys_of(generated, entity)
    columns = [generated.expected(entity, metric, shown) for metric in metrics]
    expected = np.stack([one.reshape(len(told.slots), -1) for one in columns], axis=-1)
    is_doubtful = np.repeat(shown.is_doubtful, len(keys) // NODES, axis=1)[:, :, np.newaxis]
    observed = np.isfinite(told.values) & ~is_doubtful
    tolerance = tolerances(metrics)
    is_right = observed & np.isclose(told.values, expected, rtol=2e-7, atol=tolerance)
    wrong = np.argwhere(observed & ~is_right)
    return Compared(
        generated=int((np.isfinite(expected) & ~is_doubtful).sum()),
        right=int(is_right.sum()),
        wrong=tuple(
            f"{told.slots[slot]} {keys[row]} {metrics[metric]}: {told.values[slot, row, metric]},"
            f" generated: {expected[slot, row, metric]}"
            for slot, row, metric in wrong[:SHOWN].tolist()
        ),
        doubtful_share=float(shown.is_doubtful.mean()),
        unseen_share=float((shown.page < 0).mean()),
    )


def tolerances(metrics: Sequence[str]) -> Floats:
    """Beside float32: counters are printed to the thousandth, all else as it is."""
    return np.array([2e-3 if metric.endswith("_per_second") else 1e-9 for metric in metrics])
