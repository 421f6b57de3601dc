"""The agent with real processes, a real socket and the machine's clock."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paramedic.ingest.agent.configuration import AgentConfig
from paramedic.ingest.agent.thread import AgentThread
from paramedic.ingest.agent.watched import WatchedProcess, WatchList
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.contract import (
    BusAddressError,
    Entity,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)

pytestmark = pytest.mark.connected
JOB = JobName("job")
PATIENCE_SECONDS = 60.0
BURN = "while True: pass"
SLEEP = "import time; time.sleep(600)"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}])"


@contextmanager
def process(code: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process in a group of its own, which is ended in all cases."""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, start_new_session=True
    ) as started:
        try:
            yield started
        finally:
            os.killpg(started.pid, signal.SIGKILL)


class Run:
    """A running agent and what it has published."""

    def __init__(self, folder: Path, watched: dict[str, int]) -> None:
        self.batches: queue.Queue[TelemetryBatch] = queue.Queue()
        self.dead: queue.Queue[bytes] = queue.Queue()
        self.path = folder / "t.sock"
        self.watch = WatchList(
            WatchedProcess(NodeName(node), process_id, rank)
            for rank, (node, process_id) in enumerate(watched.items())
        )
        self.thread = AgentThread(
            AgentConfig(JOB, self.path),
            self.watch,
            self.batches.put,
            lambda payload, _: self.dead.put(payload),
        )

    def until(
        self, entity: Entity, condition: Callable[[dict[str, dict[str, float]]], bool]
    ) -> None:
        """Wait for a batch whose rows, metrics by node, are as told."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        rows: dict[str, dict[str, float]] = {}
        while time.monotonic() < deadline:
            batch = self.batches.get(timeout=PATIENCE_SECONDS)
            for table in batch.tables:
                if table.entity is entity:
                    rows = {
                        node: {metric: column[at] for metric, column in table.columns.items()}
                        for at, node in enumerate(table.nodes)
                    }
                    if condition(rows):
                        return
        pytest.fail(f"never seen; the last rows were {rows}")


@contextmanager
def running(folder: Path, watched: dict[str, int]) -> Iterator[Run]:
    run = Run(folder, watched)
    run.thread.start()
    try:
        yield run
    finally:
        run.thread.stop(5.0)


def test_busy_idle_stopped_and_gone_processes_are_told_apart(tmp_path: Path) -> None:
    with process(BURN) as busy, process(SLEEP) as idle:
        with running(tmp_path, {"busy": busy.pid, "idle": idle.pid}) as run:
            cpu = "cpu_utilization_ratio"
            run.until(
                Entity.NODE,
                lambda rows: rows["busy"].get(cpu, 0) > 0.02 > rows["idle"].get(cpu, 1),
            )
            os.kill(busy.pid, signal.SIGSTOP)
            run.until(
                Entity.NODE,
                lambda rows: rows["busy"]["process_stopped"] == 1 and rows["busy"][cpu] == 0,
            )
            os.kill(busy.pid, signal.SIGCONT)
            run.until(Entity.NODE, lambda rows: rows["busy"]["process_stopped"] == 0)
            os.kill(idle.pid, signal.SIGKILL)
            run.until(Entity.NODE, lambda rows: set(rows) == {"busy"})
        assert not run.path.exists()
        assert run.thread.counters().sample_failures == 0


def test_the_work_of_a_child_is_counted_with_its_parent(tmp_path: Path) -> None:
    with process(PARENT) as parent, running(tmp_path, {"a": parent.pid}) as run:
        run.until(Entity.NODE, lambda rows: rows["a"].get("cpu_utilization_ratio", 0) > 0.02)


def test_a_trainers_datagram_reaches_the_bus_and_noise_the_dead_letters(tmp_path: Path) -> None:
    with process(SLEEP) as worker, running(tmp_path, {"a": worker.pid}) as run:
        table = Table(Entity.RANK, (NodeName("a"),), (0,), {"step": (7.0,)})
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as trainer:
            trainer.sendto(b"noise", str(run.path))
            trainer.sendto(
                encode(TelemetryBatch(JOB, 0, int(time.time()), (table,))), str(run.path)
            )
        run.until(Entity.RANK, lambda rows: rows == {"a": {"step": 7.0}})
        assert run.dead.get(timeout=PATIENCE_SECONDS) == b"noise"


def test_batches_come_once_a_second_for_the_second_that_has_just_ended(tmp_path: Path) -> None:
    with running(tmp_path, {"me": os.getpid()}) as run:
        first = run.batches.get(timeout=PATIENCE_SECONDS)
        second = run.batches.get(timeout=PATIENCE_SECONDS)
        assert second.second > first.second
        assert time.time() - (second.second + 1) < 1.0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_agent_that_cannot_go_on_says_so(tmp_path: Path) -> None:
    def refuse(batch: TelemetryBatch) -> None:
        raise BusAddressError("nowhere")

    watch = WatchList([WatchedProcess(NodeName("me"), os.getpid(), 0)])
    config = AgentConfig(JOB, tmp_path / "t.sock")
    thread = AgentThread(config, watch, refuse, lambda *_: None)
    before = thread.has_died
    thread.start()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not thread.has_died and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (before, thread.has_died) == (False, True)
    thread.stop(1.0)
