"""The control socket with clients that behave and clients that do not; and the event loop."""

from __future__ import annotations

import os
import selectors
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.launchers.local.client import LocalLauncher
from paramedic.remediation.launchers.local.control_server import Client, ControlServer
from paramedic.remediation.launchers.local.event_loop import EventLoop
from paramedic.remediation.launchers.local.messages import (
    FromOperator,
    FromWorker,
    Hello,
    Observe,
    OutcomeReply,
    Stop,
    encode,
)
from paramedic.remediation.launchers.port import (
    Effect,
    LauncherSetupError,
    LauncherUnavailableError,
    ReplaceRank,
)

NODE = NodeName("node-0001")
HELLO = Hello(NODE, 7)
LONG = OutcomeReply(Effect.REFUSED, "x" * 10_000)


class SetClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)


class Desk:
    """A server with what it heard."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.loop = EventLoop(SetClock())
        self.heard: list[FromWorker | FromOperator] = []
        self.clients: list[Client] = []
        self.closed: list[Client] = []
        self.server = ControlServer(self.loop, path, self.hear, self.closed.append)
        self.stack = ExitStack()

    def hear(self, client: Client, message: FromWorker | FromOperator) -> None:
        self.heard.append(message)
        if client not in self.clients:
            self.clients.append(client)

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.stack.enter_context(closing(connection))
        connection.settimeout(5)
        connection.connect(str(self.path))
        return connection

    def turn(self, rounds: int = 3) -> None:
        for _ in range(rounds):
            self.loop.wake()
            self.loop.run_once()

    def close(self) -> None:
        self.server.close()
        self.loop.close()
        self.stack.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "control.sock")
    yield made
    made.close()


def test_messages_are_heard_in_order_even_when_cut_in_pieces(desk: Desk) -> None:
    connection = desk.connect()
    stream = encode(HELLO) + encode(Observe())
    connection.sendall(stream[:10])
    desk.turn()
    connection.sendall(stream[10:])
    desk.turn()
    assert desk.heard == [HELLO, Observe()]


@pytest.mark.parametrize("garbage", [b"not json\n", b'{"type": "x"}\n', b"x" * 300_000])
def test_a_hostile_client_is_dropped_and_the_others_are_served(desk: Desk, garbage: bytes) -> None:
    hostile, good = desk.connect(), desk.connect()
    good.sendall(encode(HELLO))
    with suppress(BrokenPipeError):
        for start in range(0, len(garbage), 50_000):
            hostile.sendall(garbage[start : start + 50_000])
            desk.turn()
    assert desk.heard == [HELLO]
    with pytest.raises((ConnectionResetError, AssertionError)):
        assert hostile.recv(10) != b""


def test_what_follows_garbage_in_the_same_piece_is_not_heard(desk: Desk) -> None:
    desk.connect().sendall(b"garbage\n" + encode(HELLO))
    desk.turn()
    assert desk.heard == []


def test_a_client_that_does_not_read_blocks_nobody_and_is_dropped(desk: Desk) -> None:
    slow = desk.connect()
    slow.sendall(encode(HELLO))
    desk.turn()
    (client,) = desk.clients
    sent = 0
    while client.is_open:
        desk.server.send(client, LONG)
        sent += 1
        assert sent < 1_000
    assert desk.closed == [client]
    desk.server.send(client, Stop())


def test_a_slow_client_gets_all_in_time(desk: Desk) -> None:
    slow = desk.connect()
    slow.sendall(encode(HELLO))
    desk.turn()
    for _ in range(50):
        desk.server.send(desk.clients[0], LONG)
    assert desk.clients[0].unsent
    received = b""
    while len(received) < 50 * len(encode(LONG)):
        desk.turn(1)
        received += slow.recv(1 << 20)
    assert received == encode(LONG) * 50


def test_last_words_are_heard_even_of_a_connection_not_yet_accepted(desk: Desk) -> None:
    connection = desk.connect()
    connection.sendall(encode(HELLO))
    connection.close()
    desk.server.read_now(NODE)
    assert desk.heard == [HELLO]
    assert desk.closed == desk.clients


def test_more_clients_than_allowed_push_out_the_nameless_ones(desk: Desk) -> None:
    first = desk.connect()
    desk.turn()
    for _ in range(256):
        desk.connect()
        desk.turn(1)
    assert first.recv(10) == b""


def test_a_socket_left_by_a_dead_supervisor_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(path))
    desk = Desk(path)
    desk.connect()
    desk.close()
    assert not path.exists()


def test_a_socket_of_a_living_supervisor_is_not_taken_over(desk: Desk) -> None:
    with pytest.raises(LauncherSetupError, match="another supervisor listens there"):
        Desk(desk.path)


@pytest.mark.parametrize("name", ["absent/control.sock", "x" * 120])
def test_a_path_that_cannot_be_used_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(LauncherSetupError, match=name[:20]):
        Desk(tmp_path / name)


def test_timers_fire_in_order_and_cancelled_ones_do_not() -> None:
    clock = SetClock()
    loop = EventLoop(clock)
    fired: list[str] = []
    loop.call_at(2.0, lambda: fired.append("second"))
    loop.call_at(1.0, lambda: fired.append("first"))
    loop.call_at(1.5, lambda: fired.append("cancelled")).cancel()
    loop.call_at(9.0, lambda: fired.append("later"))
    clock.seconds = 3.0
    loop.run_once()
    loop.close()
    assert fired == ["first", "second"]


def test_a_descriptor_unwatched_in_the_same_round_is_not_called() -> None:
    loop = EventLoop(SetClock())
    read_end, write_end = os.pipe()
    called: list[int] = []

    def only_one(other: int, own: int) -> None:
        called.append(own)
        loop.unwatch(other)

    twin = os.dup(read_end)
    loop.watch(read_end, selectors.EVENT_READ, lambda _events: only_one(twin, read_end))
    loop.watch(twin, selectors.EVENT_READ, lambda _events: only_one(read_end, twin))
    os.write(write_end, b"x")
    loop.run_once()
    loop.close()
    for descriptor in (read_end, write_end, twin):
        os.close(descriptor)
    assert len(called) == 1


REQUEST = ReplaceRank(JobName("demo"), NODE, 0, "key", "hang")


def test_an_absent_supervisor_is_unavailable_and_named(tmp_path: Path) -> None:
    launcher = LocalLauncher(tmp_path / "gone.sock")
    with pytest.raises(LauncherUnavailableError, match=r"gone\.sock: No such file.*try again"):
        launcher.apply(REQUEST)


def test_a_supervisor_that_does_not_answer_is_unavailable(desk: Desk) -> None:
    launcher = LocalLauncher(desk.path, timeout_seconds=0.05)
    with pytest.raises(LauncherUnavailableError, match=r"did not answer within 0\.05 s"):
        launcher.observe(JobName("demo"))


def test_a_plan_shows_the_line_that_would_be_sent(tmp_path: Path) -> None:
    (call,) = LocalLauncher(tmp_path / "c.sock").plan(REQUEST).calls
    assert '"type": "replace", "node": "node-0001", "generation": 0' in call
    assert str(tmp_path / "c.sock") in call
