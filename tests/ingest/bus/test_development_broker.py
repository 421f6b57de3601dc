"""The development broker starts, answers and ends; every failure is one clear line."""

from __future__ import annotations

import socket
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


def test_a_program_that_never_answers_is_ended(tmp_path: Path) -> None:
    program = script(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 60")
    with (
        pytest.raises(BusUnavailableError, match="does not answer"),
        development_broker(tmp_path / "log", program=lambda: program, start_seconds=0.3),
    ):
        pytest.fail("there is no broker")
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


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
