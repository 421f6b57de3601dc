"""Captures as processes: over a real bus, from real exporters, killed, and on a disk that fills."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest.recordings.recorded import JOB, START, batch, event, moments_of, said
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.bus.embedded.broker import EmbeddedBroker
from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    NodeName,
    TelemetryBatch,
    Topic,
)
from paramedic.ingest.recordings.description import JobDescription, NodeRoles
from paramedic.ingest.recordings.moment import Moment
from paramedic.ingest.recordings.reading import open_recording
from paramedic.ingest.recordings.ring import segments
from paramedic.ingest.recordings.writing import RecordingWriter

pytestmark = pytest.mark.connected
COMMAND = (sys.executable, "-m", "paramedic.api.command_line")
PATIENCE_SECONDS = 40.0
_SMALL_FILE_BYTES = 40_000


class Capturing:
    """A capture in a process of its own."""

    def __init__(self, folder: Path, *arguments: str, small_files: bool = False) -> None:
        self.log = folder / "capture.log"
        self._out = (folder / "capture.out").open("w+")
        self._err = self.log.open("w")
        self.process = subprocess.Popen(
            [*COMMAND, "capture", *arguments],
            cwd=folder,
            stdout=self._out,
            stderr=self._err,
            preexec_fn=_only_small_files if small_files else None,  # noqa: PLW1509 (no threads yet)
        )

    def wait_for(self, what: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not what():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)

    def says(self, words: str) -> bool:
        return words in self.log.read_text()

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECONDS)

    def told(self) -> dict[str, object]:
        self._out.seek(0)
        told: dict[str, object] = json.loads(self._out.read())
        return told

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._out.close()
        self._err.close()


def _only_small_files() -> None:
    """Files cannot grow beyond this: to the writer, a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_SMALL_FILE_BYTES, _SMALL_FILE_BYTES))


@contextlib.contextmanager
def capturing(folder: Path, *arguments: str, small_files: bool = False) -> Iterator[Capturing]:
    capture = Capturing(folder, *arguments, small_files=small_files)
    try:
        yield capture
    finally:
        capture.close()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path / "bus.sock") as broker:
        yield broker


def publish(broker: EmbeddedBroker, *facts: TelemetryBatch | Event) -> None:
    for fact in facts:
        if isinstance(fact, Event):
            broker.publish_local(Topic.EVENTS, f"{JOB}/0", fact.to_json())
        else:
            broker.publish_local(Topic.TELEMETRY, f"{JOB}/0", encode(fact))


def seconds_of(folder: Path) -> list[int]:
    facts = [one.fact for one in moments_of(folder)]
    return [one.second - START for one in facts if isinstance(one, TelemetryBatch)]


def test_a_bus_is_recorded_until_ctrl_c(broker: EmbeddedBroker, tmp_path: Path) -> None:
    publish(broker, event(0, EventKind.JOB_STATE, state="training"))
    bus = f"unix:{tmp_path}/bus.sock"
    with capturing(tmp_path, "--bus", bus, "--out", "r") as capture:
        capture.wait_for(lambda: capture.says("recording to"))
        time.sleep(1.0)
        publish(broker, *(batch(second, {"a": 1.0, "b": 2.0}) for second in range(50)))
        capture.wait_for((tmp_path / "r/job.json").exists)
        time.sleep(0.5)
        assert capture.end(signal.SIGINT) == 0
        told = capture.told()
    assert seconds_of(tmp_path / "r") == list(range(50))
    assert told == {
        "recordings": [str(tmp_path / "r")], "rows": 100, "events": 1, "lost": 0, "unreadable": 0
    }  # fmt: skip
    first = moments_of(tmp_path / "r")[0].fact
    assert isinstance(first, Event)
    assert first.details["state"] == "training"


def test_what_was_written_before_a_kill_can_be_read(broker: EmbeddedBroker, tmp_path: Path) -> None:
    bus = f"unix:{tmp_path}/bus.sock"
    with capturing(tmp_path, "--bus", bus, "--out", "ring", "--ring") as capture:
        capture.wait_for(lambda: capture.says("recording to"))
        time.sleep(1.0)
        publish(broker, *(batch(second, {"a": 1.0}) for second in range(30)))
        capture.wait_for(lambda: any((tmp_path / "ring").rglob("node-000000.parquet")))
        publish(broker, *(batch(second, {"a": 1.0}) for second in range(30, 60)))
        assert capture.end(signal.SIGKILL) == -signal.SIGKILL
    (segment,) = segments(tmp_path / "ring")
    assert seconds_of(segment) == list(range(30))
    done = subprocess.run(
        [*COMMAND, "replay", str(segment)], capture_output=True, text=True, timeout=60, check=True
    )
    assert "0 verdicts in 30 s of llama-7b" in done.stderr


def test_a_recording_that_is_published_and_captured_again_says_the_same(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    nodes = ("a", "b")
    job = JobDescription(JOB, 1.0, tuple(NodeRoles(NodeName(name), 8) for name in nodes))
    with RecordingWriter(tmp_path / "first", job) as writer:
        for second in range(40):
            values = {name: second + at / 7 for at, name in enumerate(nodes)}
            writer.append(batch(second, values, "loss", Entity.RANK, generation=second // 30))
            if second % 10 == 5:
                writer.event(event(second + 0.5, EventKind.XID, node="a", gpu=1, xid=second))
    bus = f"unix:{tmp_path}/bus.sock"
    with capturing(tmp_path, "--bus", bus, "--out", "second") as capture:
        capture.wait_for(lambda: capture.says("recording to"))
        time.sleep(1.0)
        arguments = ["replay", "first", "--bus", bus, "--speed", "20"]
        subprocess.run([*COMMAND, *arguments], cwd=tmp_path, timeout=60, check=True)
        capture.wait_for((tmp_path / "second/job.json").exists)
        time.sleep(0.5)
        assert capture.end() == 0
    first, second_time = (moments_of(tmp_path / name) for name in ("first", "second"))
    assert told_of(second_time) == told_of(first)


def told_of(moments: list[Moment]) -> list[object]:
    """What is told, without when it was heard of."""
    return [facts for _, facts in said(moments)]


def test_a_bus_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    bus = f"unix:{tmp_path}/bus.sock"
    with capturing(tmp_path, "--bus", bus, "--out", "r") as capture:
        capture.wait_for(lambda: capture.says("waiting for it"))
        with EmbeddedBroker(tmp_path / "bus.sock") as late:
            for second in range(200):
                publish(late, batch(second, {"a": 1.0}))
                time.sleep(0.1)
                if capture.says("the bus is back"):
                    break
            assert capture.end() == 0
    assert seconds_of(tmp_path / "r")
    assert capture.log.read_text().count("waiting for it") == 1


def test_a_full_disk_is_told_and_what_is_there_stays(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """Random values do not shrink: 30 s of 500 nodes are more than a small file takes."""
    bus = f"unix:{tmp_path}/bus.sock"
    with capturing(tmp_path, "--bus", bus, "--out", "r", small_files=True) as capture:
        capture.wait_for(lambda: capture.says("recording to"))
        time.sleep(1.0)
        publish(broker, batch(0, {"a": 1.0}))
        capture.wait_for((tmp_path / "r/parts/node-000000.parquet").exists)
        noise = os.urandom(60_000)
        for second in range(1, 31):
            values = {f"node-{at}": float(noise[at * second]) + at / 977 for at in range(1500)}
            publish(broker, batch(second, values))
        capture.wait_for(lambda: capture.says("cannot be written"))
        assert seconds_of(tmp_path / "r") == [0]
        assert capture.end() == 1
        told = capture.told()
    text = capture.log.read_text()
    assert text.count("what is there stays, and recording goes on when there is room") == 1
    assert seconds_of(tmp_path / "r") == [0]
    assert "45000 rows and events could not be written" in text
    assert (told["rows"], told["lost"]) == (1, 45000)


def test_exporters_are_recorded_without_a_bus(tmp_path: Path) -> None:
    served = tmp_path / "served.out"
    with served.open("w") as out:
        cluster = subprocess.Popen(
            [*COMMAND, "simulate", "--nodes", "4", "--gpus", "2", "--serve", "--port", "0",
             "--seconds", "60", "--write-hosts", "hosts.txt"],
            cwd=tmp_path, stdout=out, stderr=out,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (tmp_path / "hosts.txt").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)
        with capturing(
            tmp_path, "--exporters", "hosts.txt", "--seconds", "12", "--out", "r"
        ) as capture:
            assert capture.process.wait(PATIENCE_SECONDS) == 0, capture.log.read_text()
    finally:
        cluster.kill()
        cluster.wait()
    recording = open_recording(tmp_path / "r")
    assert [node.gpus for node in recording.job.nodes] == [2, 2, 2, 2]
    seconds = seconds_of(tmp_path / "r")
    assert seconds == list(range(seconds[0], seconds[-1] + 1))
    assert len(seconds) >= 5
