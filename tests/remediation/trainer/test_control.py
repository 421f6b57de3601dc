"""The connection to the supervisor, over a real socket pair."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import pytest

from paramedic.remediation.trainer.control import ControlConnection
from paramedic.remediation.trainer.control_messages import ready
from paramedic.remediation.trainer.errors import StopRequestedError, SupervisorLostError
from paramedic.remediation.trainer.interruption import Interruption
from paramedic.remediation.trainer.mailbox import Mailbox

_WAIT_SECONDS = 10.0


class Bench:
    def __init__(self) -> None:
        self.supervisor, worker = socket.socketpair()
        self.mailbox = Mailbox()
        self.ended = threading.Event()
        interruption = Interruption(0)
        interruption.watch(lambda _cause: self.ended.set())
        self.mailbox.attach(interruption)
        self.connection = ControlConnection(worker, self.mailbox)
        self.connection.start()
        self._worker = worker

    def close(self) -> None:
        self.connection.close()
        self.supervisor.close()
        self._worker.close()


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()


def test_a_report_arrives_as_one_line(bench: Bench) -> None:
    bench.connection.send(ready("node-0001"))
    assert json.loads(bench.supervisor.recv(1000)) == {"type": "ready", "node": "node-0001"}


def test_an_abort_ends_the_generation(bench: Bench) -> None:
    bench.supervisor.sendall(b'{"type": "abort", "generation": 0}\n')
    assert bench.ended.wait(_WAIT_SECONDS)
    bench.mailbox.check()


def test_a_ping_is_answered_while_the_main_thread_does_something_else(bench: Bench) -> None:
    bench.supervisor.sendall(b'{"type": "ping"}\n')
    bench.supervisor.settimeout(_WAIT_SECONDS)
    assert json.loads(bench.supervisor.recv(1000)) == {"type": "pong"}


def test_a_message_in_pieces_and_two_messages_at_once_are_read(bench: Bench) -> None:
    bench.supervisor.sendall(b'{"type": "ab')
    bench.supervisor.sendall(b'ort", "generation": 0}\n{"type": "stop"}\n')
    with pytest.raises(StopRequestedError):
        bench.mailbox.wait_for_assignment(after=-1)


def test_a_line_that_is_no_message_is_skipped(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.supervisor.sendall(b'nonsense\n{"type": "later"}\n{"type": "stop"}\n')
    with pytest.raises(StopRequestedError):
        bench.mailbox.wait_for_assignment(after=-1)
    assert "skipped a control line" in capsys.readouterr().err


def test_a_hostile_line_does_not_end_the_reading(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.supervisor.sendall(b"[" * 50_000 + b"\n" + b'{"type": "stop"}\n')
    with pytest.raises(StopRequestedError):
        bench.mailbox.wait_for_assignment(after=-1)
    assert len(capsys.readouterr().err) < 400


def test_a_line_torn_by_the_supervisor_s_end_is_not_obeyed(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.supervisor.sendall(b'{"type": "stop", "rea')
    bench.supervisor.close()
    with pytest.raises(SupervisorLostError):
        bench.mailbox.wait_for_assignment(after=-1)
    assert "skipped a control line" in capsys.readouterr().err


def test_a_supervisor_that_goes_away_ends_everything(bench: Bench) -> None:
    bench.supervisor.close()
    assert bench.ended.wait(_WAIT_SECONDS)
    with pytest.raises(SupervisorLostError):
        bench.mailbox.check()


def test_a_report_to_nobody_raises_nothing(bench: Bench) -> None:
    bench.supervisor.close()
    bench.connection.send(ready("node-0001"))
    with pytest.raises(SupervisorLostError):
        bench.mailbox.wait_for_assignment(after=-1)
