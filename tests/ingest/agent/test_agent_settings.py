"""Settings of the agent, its watch list and its socket."""

from __future__ import annotations

import socket
import stat
from pathlib import Path

import pytest

from paramedic.ingest.agent.configuration import AgentConfig
from paramedic.ingest.agent.errors import AgentSetupError
from paramedic.ingest.agent.inbox import UnixInbox
from paramedic.ingest.agent.watched import WatchedProcess, WatchList
from paramedic.ingest.contract import JobName, NodeName


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("settle_seconds", 1.0),
        ("settle_seconds", -0.1),
        ("outbox_batches", 0),
        ("pending_datagrams", 0),
        ("wait_slice_seconds", 0.0),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value(name: str, value: float) -> None:
    with pytest.raises(AgentSetupError, match=f"{name} is {value}"):
        AgentConfig(JobName("job"), Path("t.sock"), **{name: value})  # type: ignore[arg-type]


def test_a_socket_path_that_the_system_cannot_take_is_refused() -> None:
    with pytest.raises(AgentSetupError, match="108 bytes long"):
        AgentConfig(JobName("job"), Path("x" * 108))


def test_the_watch_list_is_replaced_as_a_whole() -> None:
    first, second = (WatchedProcess(NodeName(name), 1, 0) for name in "ab")
    watch = WatchList([first])
    watch.replace([second])
    assert watch.current() == (second,)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.sock"


def test_the_inbox_gives_what_was_sent_and_never_waits_longer_than_told(path: Path) -> None:
    inbox = UnixInbox(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"one", str(path))
        sender.sendto(b"", str(path))
        sender.sendto(b"two", str(path))
    assert inbox.receive(0.0) == [b"one", b"", b"two"]
    assert inbox.receive(0.001) == []
    inbox.close()


def test_a_full_queue_turns_the_sender_away_and_does_not_block_it(path: Path) -> None:
    inbox = UnixInbox(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sender:
        sent = sum(1 for _ in iter(lambda: taken(sender, path), False))
    assert inbox.receive(0.0) == [b"x"] * min(sent, 256)
    inbox.close()


def taken(sender: socket.socket, path: Path) -> bool:
    try:
        sender.sendto(b"x", str(path))
    except BlockingIOError:
        return False
    return True


def test_the_socket_is_private_and_removed_at_the_end(path: Path) -> None:
    inbox = UnixInbox(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    inbox.close()
    inbox.close()
    assert not path.exists()


def test_a_path_that_is_taken_is_a_setup_error(path: Path) -> None:
    path.touch()
    with pytest.raises(AgentSetupError, match=r"t\.sock"):
        UnixInbox(path)
