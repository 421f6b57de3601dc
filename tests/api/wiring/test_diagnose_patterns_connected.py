"""A diagnosis process scores with what is promoted while it runs; its verdicts stay the same."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from diagnosis.playing import arrival, tell
from models.pattern.fitted import small_model
from models.pattern.made_up import FIRST, METRICS, gpu_values, nodes_named
from models.registry.models_of_ours import AT, manifest_of
from paramedic.diagnosis.contract import Verdict
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.bus.embedded.broker import EmbeddedBroker
from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    JobName,
    Start,
    Subscription,
    Table,
    TelemetryBatch,
    Topic,
)
from paramedic.models.registry.registry import Registry
from servers.prometheus import free_port

pytestmark = pytest.mark.connected
JOB = JobName("llama-7b")
COMMAND = (sys.executable, "-m", "paramedic.api.command_line", "diagnose")
PATIENCE_SECONDS = 60.0
NODES, GPUS = 6, 2
VALUES = gpu_values(NODES, 400, seed=7, gpus=GPUS)
VALUES[2:4, 1, 50:] *= 0.3  # a machine that departs, and is told half a minute later
FULL_SLOTS = 64
"""After so many slots a window is full and closed."""


def batch(slot: int) -> TelemetryBatch:
    rows = tuple(node for node in nodes_named(NODES) for _ in range(GPUS))
    columns = {name: VALUES[:, at, slot].tolist() for at, name in enumerate(METRICS)}
    table = Table(Entity.GPU, rows, tuple(range(GPUS)) * NODES, columns)
    return TelemetryBatch(JOB, 0, FIRST + slot, (table,))


def training() -> Event:
    moment = datetime.fromtimestamp(FIRST, UTC)
    return Event(moment, EventKind.JOB_STATE, JOB, generation=0, details={"state": "training"})


def exit_in(slot: int) -> Event:
    return Event(
        datetime.fromtimestamp(FIRST + slot + 0.5, UTC),
        EventKind.PROCESS_EXIT,
        JOB,
        nodes_named(1)[0],
        rank=0,
        generation=0,
        details={"signal": 9},
    )


@dataclass
class Running:
    """A diagnosis process, and the job whose telemetry it gets."""

    folder: Path
    broker: EmbeddedBroker
    process: subprocess.Popen[bytes]
    metrics_port: int
    told: Subscription
    facts: list[TelemetryBatch | Event] = field(default_factory=list)
    slot: int = 0
    verdicts: list[Verdict] = field(default_factory=list)

    def log(self) -> str:
        return (self.folder / "diagnose.log").read_text()

    def give(self, fact: TelemetryBatch | Event) -> None:
        self.facts.append(fact)
        topic, payload = (
            (Topic.EVENTS, fact.to_json())
            if isinstance(fact, Event)
            else (Topic.TELEMETRY, encode(fact))
        )
        self.broker.publish_local(topic, f"{JOB}/0", payload)

    def telemetry(self, slots: int) -> None:
        for _ in range(slots):
            self.give(batch(self.slot))
            self.slot += 1

    def page(self) -> str:
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=5
            ) as answer:
                return str(answer.read().decode())
        except OSError:  # it does not listen yet
            return ""

    def value(self, name: str) -> float:
        found = re.search(
            rf"^paramedic_diagnose_pattern_{name}(?:{{.*}})? (\S+)$", self.page(), re.MULTILINE
        )
        return float(found[1]) if found else 0.0

    def is_scored_with(self, version: str) -> bool:
        info = f'pattern_model_info{{job="{JOB}",model="small",version="{version}"}} 1.0'
        return info in self.page()

    def wait_for(self, what: Callable[[], bool], *, plays: bool = True) -> None:
        """Let the job go on, a slot now and then, until it is so."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not what():
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log() + self.page()
            self.telemetry(1 if plays else 0)
            self.listen()
            time.sleep(0.3)

    def listen(self) -> None:
        found = self.told.poll(0.1)
        self.verdicts += [Verdict.from_json(message.payload) for message in found]


@contextmanager
def running(folder: Path, *settings: str) -> Iterator[Running]:
    port = free_port()
    with EmbeddedBroker(folder / "bus.sock") as broker, (folder / "diagnose.log").open("w") as log:
        flags = ("--bus", f"unix:{folder / 'bus.sock'}", "--metrics-port", str(port), *settings)
        process = subprocess.Popen(
            [*COMMAND, *flags], cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
        told = broker.bus().subscribe([Topic.VERDICTS], Start.EARLIEST)
        try:
            yield Running(folder, broker, process, port, told)
        finally:
            told.close()
            process.terminate()
            try:
                assert process.wait(PATIENCE_SECONDS) == 0, (folder / "diagnose.log").read_text()
            finally:
                process.kill()
                process.wait()


def registry_with(folder: Path, versions: int) -> Registry:
    registry = Registry(folder / "paramedic-models")
    for _ in range(versions):
        registry.add(small_model(), manifest_of("small"), AT)
    return registry


def promote_tampered(registry: Registry, version: int) -> None:
    """As if somebody changed the file in the moment of its promotion, so that no check is first."""
    aside = Registry(registry.root.parent / "aside")
    shutil.copytree(registry.root, aside.root)
    aside.promote(version, AT)
    (registry.folder_of(version) / "model.safetensors").write_bytes(b"something else")
    aside.record_file.replace(registry.record_file)


def test_a_promoted_version_is_picked_up_a_tampered_one_refused_and_verdicts_stay(
    tmp_path: Path,
) -> None:
    registry = registry_with(tmp_path, 3)
    registry.promote(1, AT)
    with running(tmp_path) as run:
        run.give(training())
        run.telemetry(FULL_SLOTS)
        run.wait_for(lambda: run.is_scored_with("1"))
        registry.promote(2, AT)
        run.telemetry(30)
        run.wait_for(lambda: run.is_scored_with("2"))
        built, scored = run.value("scorers_built_total"), run.value("slots_scored_total")
        promote_tampered(registry, 3)
        run.wait_for(lambda: run.value("models_refused_total") == 1)
        run.wait_for(lambda: run.value("slots_scored_total") > scored + 2)
        assert run.is_scored_with("2")
        assert run.value("scorers_built_total") == built == 2
        assert run.value("oddest_nats") > 0
        assert run.value("scoring_seconds_total") > 0
        run.give(exit_in(run.slot))
        expected = tell(DetectorConfig().build(JOB), sorted(run.facts, key=arrival))
        run.wait_for(lambda: len(run.verdicts) >= len(expected), plays=False)
    assert "(in use is small, version 2)" in run.log()
    assert "versions/0003/model.safetensors" in run.log()
    assert "Traceback" not in run.log()
    # The wire carries 32-bit floats, so last digits differ.
    said = [[(one.id, one.status, one.node) for one in some] for some in (run.verdicts, expected)]
    assert said[0] == said[1]
    assert run.verdicts


def test_what_ships_is_asked_for_whatever_is_promoted(tmp_path: Path) -> None:
    registry = registry_with(tmp_path, 1)
    with running(tmp_path, "--set", "models.scoring=shipped") as run:
        run.telemetry(FULL_SLOTS)
        run.wait_for(lambda: "scored with default" in run.log() or "no pattern is" in run.log())
        registry.promote(1, AT)
        run.give(exit_in(run.slot))
        run.wait_for(lambda: bool(run.verdicts))
        assert not run.is_scored_with("1")


def test_without_any_model_a_line_says_so_until_one_is_promoted(tmp_path: Path) -> None:
    registry = registry_with(tmp_path, 1)
    registry.promote(1, AT)
    (registry.folder_of(1) / "model.safetensors").rename(tmp_path / "aside")
    with running(tmp_path) as run:
        run.telemetry(FULL_SLOTS)
        run.wait_for(lambda: "model.safetensors" in run.log())
        (tmp_path / "aside").rename(registry.folder_of(1) / "model.safetensors")
        run.wait_for(lambda: run.is_scored_with("1"))


def test_switched_off_it_judges_and_scores_nothing(tmp_path: Path) -> None:
    registry_with(tmp_path, 1).promote(1, AT)
    with running(tmp_path, "--set", "models.scoring=off") as run:
        run.telemetry(FULL_SLOTS)
        run.give(exit_in(run.slot))
        run.wait_for(lambda: bool(run.verdicts))
        assert "paramedic_diagnose_verdicts_total" in run.page()
        assert "paramedic_diagnose_pattern" not in run.page()
