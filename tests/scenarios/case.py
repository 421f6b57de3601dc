"""Runs of the real command line, each with a mark in its environment so that orphans are found."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paramedic.api.wiring.run_folder import RECORD_FILE, RunRecord

PATIENCE_SECONDS = 60.0


def wait_until(holds: Callable[[], bool], what: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Look until it holds; fail with what was waited for."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain until {what}"
        time.sleep(0.05)


@dataclass
class Case:
    """A folder for one test, a mark that all its processes carry, and what was started."""

    folder: Path
    mark: str
    temporary: Path
    """Short, because sockets lie in it; taken away at the end, also after a SIGKILL."""
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def run_folder(self) -> Path:
        return self.folder / "run"

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "PARAMEDIC_API_PORT"}
        return {
            **kept,
            "PARAMEDIC_TEST_MARK": self.mark,
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "TMPDIR": str(self.temporary),
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the command line in a session of its own, as a terminal would not."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "paramedic.api.command_line", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment(),
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str, seconds: float = PATIENCE_SECONDS) -> Finished:
        """Run the command line to its end."""
        return self.finish(self.start(*arguments), seconds)

    def start_job(self, *flags: str, command: Sequence[str]) -> subprocess.Popen[str]:
        """Start a job on any free port, with its folder in this test's."""
        return self.start(
            "run", "--port", "0", "--run-folder", str(self.run_folder), *flags, "--", *command
        )

    def run_job(self, *flags: str, command: Sequence[str]) -> Finished:
        """Run a job to its end."""
        return self.finish(self.start_job(*flags, command=command))

    def finish(self, process: subprocess.Popen[str], seconds: float = PATIENCE_SECONDS) -> Finished:
        """Wait for the end, and for every process to be gone."""
        out, errors = process.communicate(timeout=seconds)
        wait_until(lambda: not self.processes(), "no process was left", 10.0)
        return Finished(process.returncode, out, errors)

    def record(self) -> RunRecord:
        """The record of the run, once it is there."""
        wait_until((self.run_folder / RECORD_FILE).exists, "there was a run.json")
        return RunRecord.read(self.run_folder)

    def processes(self, word: str = "") -> dict[int, str]:
        """Living processes of this test by id, those whose command line holds the word."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and self._is_ours(entry):
                command = read_proc(entry / "cmdline").replace("\0", " ")
                if word in command:
                    found[int(entry.name)] = command
        return found

    def end_everything(self) -> None:
        """Leave nothing behind, whatever the test did."""
        for process in self.started:
            process.kill()
        for process_id in self.processes():
            try:
                os.kill(process_id, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for process in self.started:
            process.communicate(timeout=10)

    def _is_ours(self, entry: Path) -> bool:
        marked = f"PARAMEDIC_TEST_MARK={self.mark}\0" in read_proc(entry / "environ")
        return marked and read_proc(entry / "stat").rpartition(")")[2].split()[:1] != ["Z"]


@dataclass(frozen=True)
class Finished:
    """What became of a command."""

    code: int
    out: str
    errors: str

    @property
    def lines(self) -> list[str]:
        return self.errors.splitlines()


def read_proc(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        # The process ended meanwhile, or is somebody else's.
        return ""
