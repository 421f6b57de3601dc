"""A supervisor in a process of its own, with everything that a test may ask of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parent / "programs"
PATIENCE_SECONDS = 30.0
POLL_SECONDS = 0.01


class RunningJob:
    """A job under `programs/supervise.py`; `folder` holds events, logs and the result."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder = folder
        self.process = process

    @property
    def control_socket(self) -> Path:
        return self.folder / "control.sock"

    def events(self) -> list[dict[str, Any]]:
        path = self.folder / "events.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def states(self) -> list[str]:
        return [event["state"] for event in self.events() if event["kind"] == "job_state"]

    def result(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return content

    def said(self) -> str:
        return (self.folder / "supervisor.log").read_text()

    def wait_until(self, holds: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            if time.monotonic() > deadline:
                raise TimeoutError(f"did not come: {self.said()}")
            time.sleep(POLL_SECONDS)

    def wait_for_state(self, state: str, times: int = 1) -> None:
        self.wait_until(lambda: self.states().count(state) >= times)

    def wait(self) -> int:
        return self.process.wait(PATIENCE_SECONDS)

    def process_ids(self) -> dict[str, int]:
        """Every worker and service that was ever started, by name."""
        found = {}
        for line in self.said().splitlines():
            words = line.split()
            if "runs as process" in line:
                found[words[-5]] = int(words[-1])
        return found

    def survivors(self) -> list[int]:
        """Process ids of this job, found by a mark in their environment."""
        mark = f"TEST_JOB={self.folder}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:
                continue
        return [process_id for process_id in found if process_id != self.process.pid]


StartJob = Callable[..., RunningJob]


@pytest.fixture
def start_job(tmp_path: Path) -> Iterator[StartJob]:
    """Start a job; its workers are `programs/worker.py` unless a command is given."""
    started: list[RunningJob] = []

    def start(
        *,
        ranks: int = 3,
        command: list[str] | None = None,
        services: dict[str, list[str]] | None = None,
        environment: dict[str, str] | None = None,
        **rules: float,
    ) -> RunningJob:
        folder = tmp_path / f"job-{len(started)}"
        folder.mkdir()
        asked = {
            "folder": str(folder),
            "command": command or [sys.executable, str(PROGRAMS / "worker.py")],
            "rules": {"ranks": ranks, **rules},
            "services": services or {},
        }
        with (folder / "supervisor.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, str(PROGRAMS / "supervise.py"), json.dumps(asked)],
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "TEST_JOB": str(folder), **(environment or {})},
            )
        job = RunningJob(folder, process)
        started.append(job)
        return job

    yield start
    for job in started:
        job.process.kill()
        job.process.wait()
        for process_id in job.survivors():
            os.kill(process_id, signal.SIGKILL)
