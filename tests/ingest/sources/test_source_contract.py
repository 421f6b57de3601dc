"""What every source does: gives, survives absence, ends when told, leaves nothing behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.kafka_topics.consumer import Record
from paramedic.ingest.sources.kafka_topics.source import KafkaTopicsSource, MessageFormat
from paramedic.ingest.sources.kernel.feeds import GrowingFile
from paramedic.ingest.sources.kernel.source import KernelLogSource
from paramedic.ingest.sources.nvml.source import NvmlSource
from paramedic.ingest.sources.port import Source, SourceAwayError
from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings
from paramedic.ingest.sources.prometheus.source import PrometheusSource
from paramedic.ingest.sources.scraping.source import ScrapeSettings, ScrapeSource
from paramedic.ingest.sources.scraping.targets import targets_of_lines
from servers.exporters import exporter
from servers.fake_nvml import FakeNvml
from servers.prometheus import free_port
from servers.scripted_prometheus import ScriptedPrometheus, every_second
from servers.telemetry_sink import HurriedStop, Running, running

pytestmark = pytest.mark.long


SPEED = 20.0
NODE = NodeName("node-1")


class Stage(Protocol):
    """A source and its far side."""

    @property
    def source(self) -> Source: ...

    def come(self) -> None: ...

    def leave(self) -> None: ...

    def speak(self) -> None: ...


class ExporterStage:
    def __init__(self, _folder: Path) -> None:
        self._port = free_port()
        self._open = ExitStack()
        settings = ScrapeSettings(0.05, timeout_seconds=1, retry_limit_seconds=0.1)
        targets = targets_of_lines([f"127.0.0.1:{self._port}"], "test")
        self.source = ScrapeSource(targets, settings, time.time)

    def come(self) -> None:
        self._open.enter_context(exporter('a{gpu="0"} 1\n', self._port))

    def leave(self) -> None:
        self._open.close()

    def speak(self) -> None:
        """It speaks when it is asked."""


class PrometheusStage:
    def __init__(self, _folder: Path) -> None:
        began = time.monotonic()

        def clock() -> float:
            return 1000.0 + SPEED * (time.monotonic() - began)

        metric = {"__name__": "a", "instance": "node-1:9400", "job": "dcgm"}
        self._api = ScriptedPrometheus(clock, lambda: [every_second(metric, 990, int(clock()))])
        self._api.is_away = True
        settings = PrometheusSettings("http://prometheus:9090", ("a",))
        self.source = PrometheusSource(settings, clock, lambda _: self._api)

    def come(self) -> None:
        self._api.is_away = False

    def leave(self) -> None:
        self._api.is_away = True

    def speak(self) -> None:
        """It has what it has scraped."""


class TopicStage:
    def __init__(self, _folder: Path) -> None:
        self._is_there = False
        self._waiting: list[Record] = []
        source = KafkaTopicsSource(
            "metrics", MessageFormat.TELEGRAF, lambda: self, lambda *_: None, self._clock
        )
        self.source = source
        self._began = time.monotonic()

    def _clock(self) -> float:
        return SPEED * (time.monotonic() - self._began)

    def poll(self, timeout_seconds: float) -> list[Record]:
        if not self._is_there:
            raise SourceAwayError("no Kafka broker answers")
        if not self._waiting:
            time.sleep(timeout_seconds / SPEED)
        taken, self._waiting = self._waiting, []
        return taken

    def close(self) -> None:
        """Nothing is open."""

    def come(self) -> None:
        self._is_there = True

    def leave(self) -> None:
        self._is_there = False

    def speak(self) -> None:
        payload = b'{"name": "a", "tags": {}, "fields": {"b": 1}, "timestamp": 1458229140}'
        self._waiting.append(Record("metrics", 0, 0, payload))


class LogStage:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "kern.log"
        self.source = KernelLogSource(NODE, "kern.log", lambda: GrowingFile(self._path), time.time)

    def come(self) -> None:
        self._path.touch()

    def leave(self) -> None:
        self._path.unlink(missing_ok=True)

    def speak(self) -> None:
        with self._path.open("a") as log:
            log.write("NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.\n")


class NvmlStage:
    def __init__(self, _folder: Path) -> None:
        self._nvml = FakeNvml(gpus=2)
        self._nvml.is_away = True
        self.source = NvmlSource(NODE, time.time, 0.05, lambda: self._nvml)

    def come(self) -> None:
        self._nvml.is_away = False

    def leave(self) -> None:
        self._nvml.is_away = True

    def speak(self) -> None:
        """It speaks when it is asked."""


STAGES: tuple[Callable[[Path], Stage], ...] = (
    ExporterStage,
    PrometheusStage,
    TopicStage,
    LogStage,
    NvmlStage,
)


@pytest.fixture(params=STAGES, ids=lambda stage: stage.__name__)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    stage: Stage = request.param(tmp_path)
    yield stage
    stage.leave()


@contextmanager
def at_work(stage: Stage) -> Iterator[Running]:
    with running(stage.source, HurriedStop(SPEED)) as run:
        yield run


def hears_something_new(stage: Stage, run: Running) -> bool:
    """Speak until it is heard: a source that has just come back hears only what comes then."""
    before = run.sink.heard
    for _ in range(100):
        stage.speak()
        if run.sink.wait_for(lambda: run.sink.heard > before, 0.1):
            return True
    return False


def test_what_the_far_side_says_arrives(stage: Stage) -> None:
    stage.come()
    with at_work(stage) as run:
        assert hears_something_new(stage, run)
        assert hears_something_new(stage, run)


def test_an_absent_far_side_is_told_of_and_noticed_when_it_comes(stage: Stage) -> None:
    with at_work(stage) as run:
        assert run.sink.wait_for(lambda: len(run.sink.silences) >= 2)
        assert run.sink.heard == 0
        stage.come()
        assert hears_something_new(stage, run)


def test_a_far_side_that_leaves_is_told_of_and_noticed_when_it_returns(stage: Stage) -> None:
    stage.come()
    with at_work(stage) as run:
        assert hears_something_new(stage, run)
        stage.leave()
        told = len(run.sink.silences)
        assert run.sink.wait_for(lambda: len(run.sink.silences) > told)
        stage.come()
        assert hears_something_new(stage, run)


def test_silence_says_where_and_why(stage: Stage) -> None:
    with at_work(stage) as run:
        assert run.sink.wait_for(lambda: bool(run.sink.silences))
        origin, _, reason = run.sink.silences[0]
        assert origin
        assert reason


@pytest.mark.parametrize("is_there", [True, False])
def test_it_ends_promptly_and_leaves_no_thread(stage: Stage, is_there: bool) -> None:
    if is_there:
        stage.come()
    before = set(threading.enumerate())
    with at_work(stage) as run:
        began = run.sink.wait_for(
            lambda: bool(run.sink.heard or run.sink.silences), 0.2 if is_there else 5
        )
        assert began or is_there
        assert run.end() < 1
    after = {one for one in threading.enumerate() if "process_request" not in one.name}
    assert after <= before
