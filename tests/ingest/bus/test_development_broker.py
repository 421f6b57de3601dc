"""The development broker starts, answers and ends; every failure is one clear line."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paramedic.ingest.bus.development_broker import RunningBroker, development_broker
from paramedic.ingest.contract import BusUnavailableError


def script(folder: Path, body: str) -> Path:
    program = folder / "broker"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return program


def test_a_program_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with (
        pytest.raises(BusUnavailableError, match=r"cannot be started: .*No such file"),
        development_broker(tmp_path / "log", program=lambda: tmp_path / "nothing"),
    ):
        pytest.fail("there is no broker")


def test_a_program_that_ends_at_once_is_reported_with_its_status_and_log(tmp_path: Path) -> None:
    program = script(tmp_path, "echo cannot bind; exit 7")
    with (
        pytest.raises(BusUnavailableError, match=f"status 7: see {tmp_path}/log"),
        development_broker(tmp_path / "log", program=lambda: program),
    ):
        pytest.fail("there is no broker")
    assert (tmp_path / "log").read_text() == "cannot bind\n"


@pytest.mark.long
def test_a_program_that_never_answers_is_ended(tmp_path: Path) -> None:
    program = script(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 60")
    with (
        pytest.raises(BusUnavailableError, match="does not answer"),
        development_broker(tmp_path / "log", program=lambda: program, start_seconds=0.3),
    ):
        pytest.fail("there is no broker")
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


OWNER = """
import sys
from pathlib import Path
from paramedic.ingest.bus.development_broker import development_broker
with development_broker(Path(sys.argv[1]), program=lambda: Path(sys.argv[2]), start_seconds=60):
    pass
"""


@contextmanager
def owned_broker(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A process that waits for a broker which never answers, and the broker's process id."""
    program = script(
        folder, f"echo $$ > {folder}/draft; mv {folder}/draft {folder}/pid; exec sleep 60"
    )
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(folder / "log"), str(program)])
    try:
        wait_until((folder / "pid").exists)
        yield owner, int((folder / "pid").read_text())
    finally:
        owner.kill()
        owner.wait(10)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20.0
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_gone(process_id: int) -> bool:
    """Whether it has ended; in a container nobody may have reaped it."""
    try:
        return "State:\tZ" in Path(f"/proc/{process_id}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_broker_does_not_outlive_an_owner_that_is_killed(tmp_path: Path) -> None:
    with owned_broker(tmp_path) as (owner, broker):
        owner.kill()
        wait_until(lambda: is_gone(broker))


@pytest.mark.long
def test_a_terminals_interrupt_reaches_the_owner_and_not_the_broker(tmp_path: Path) -> None:
    with owned_broker(tmp_path) as (owner, broker):
        # Ctrl-C goes to the process group of the terminal's foreground.
        assert os.getpgid(broker) == broker != os.getpgid(owner.pid)


@pytest.mark.connected
def test_the_broker_answers_inside_the_context_and_is_gone_after_it(tmp_path: Path) -> None:
    def leave_by_an_error() -> None:
        with development_broker(tmp_path / "log") as broker:
            ended.append(broker)
            socket.create_connection((broker.host, broker.port), timeout=5).close()
            raise KeyboardInterrupt

    ended: list[RunningBroker] = []
    with pytest.raises(KeyboardInterrupt):
        leave_by_an_error()
    (broker,) = ended
    assert broker.address == f"kafka://127.0.0.1:{broker.port}"
    assert not Path(f"/proc/{broker.process_id}").exists()
