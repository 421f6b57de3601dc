"""The embedded broker on a real socket: who may come in, who is dropped, who is never held up."""

from __future__ import annotations

import logging
import os
import socket
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from paramedic.ingest.bus.address import open_bus
from paramedic.ingest.bus.embedded.broker import BrokerLimits, EmbeddedBroker
from paramedic.ingest.bus.embedded.client import EmbeddedBus
from paramedic.ingest.bus.limits import PAYLOAD_LIMIT_BYTES
from paramedic.ingest.bus.retention import Retention
from paramedic.ingest.contract import (
    BusAddressError,
    BusUnavailableError,
    ContractError,
    Message,
    Start,
    Topic,
)
from servers.arrivals import arrivals

PATIENCE_SECONDS = 60.0


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path / "bus.sock") as broker:
        yield broker


def wait_for(condition: Callable[[], bool]) -> bool:
    """Whether the condition came true before patience ran out."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    turn = threading.Event()
    while not condition() and time.monotonic() < deadline:
        turn.wait(0.005)
    return condition()


def connect(broker: EmbeddedBroker) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(PATIENCE_SECONDS)
    client.connect(str(broker.path))
    return client


def test_only_this_user_can_reach_the_socket(broker: EmbeddedBroker) -> None:
    assert stat.S_IMODE(broker.path.stat().st_mode) == 0o600


def test_the_socket_vanishes_with_the_broker(tmp_path: Path) -> None:
    broker = EmbeddedBroker(tmp_path / "bus.sock")
    broker.start()
    broker.close()
    broker.close()
    assert not broker.path.exists()


def test_a_socket_left_by_a_dead_broker_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "bus.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(path))
    with EmbeddedBroker(path):
        EmbeddedBus(path).publisher().close()


def test_a_second_broker_at_the_same_path_is_refused(broker: EmbeddedBroker) -> None:
    with pytest.raises(BusUnavailableError) as caught:
        EmbeddedBroker(broker.path).start()
    assert str(caught.value) == (
        f"bus socket {broker.path}: another broker answers there: stop it first"
    )
    EmbeddedBus(broker.path).publisher().close()


def test_a_broker_that_stands_still_with_a_full_queue_still_owns_its_path(tmp_path: Path) -> None:
    path = tmp_path / "bus.sock"
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stopped,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waiting,
    ):
        stopped.bind(str(path))
        stopped.listen(0)
        waiting.connect(str(path))
        with pytest.raises(BusUnavailableError, match="another broker answers"):
            EmbeddedBroker(path).start()


def test_a_file_in_the_way_is_reported_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "bus.sock"
    path.write_text("precious")
    with pytest.raises(BusAddressError, match="another kind"):
        EmbeddedBroker(path).start()
    assert path.read_text() == "precious"


@pytest.mark.parametrize(
    "use",
    [lambda path: EmbeddedBroker(path).start(), EmbeddedBus, lambda path: open_bus(f"unix:{path}")],
    ids=["broker", "client", "address"],
)
def test_a_path_too_long_for_a_socket_names_its_size_the_limit_and_the_remedy(
    tmp_path: Path, use: Callable[[Path], object]
) -> None:
    path = path_of(tmp_path, 108)
    with pytest.raises(BusAddressError) as caught:
        use(path)
    assert str(caught.value) == (
        f"bus socket '{path}': 108 bytes, a Unix socket's path has at most 107:"
        " use a shorter folder"
    )


def test_a_path_of_the_greatest_length_serves(tmp_path: Path) -> None:
    with EmbeddedBroker(path_of(tmp_path, 107)) as broker:
        EmbeddedBus(broker.path).publisher().close()


def path_of(folder: Path, size_bytes: int) -> Path:
    """A path of so many bytes, some of them in a letter that takes two."""
    path = folder / "ü"
    return path.with_name("ü" + "x" * (size_bytes - len(os.fsencode(path))))


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BusUnavailableError, match="cannot be made"):
        EmbeddedBroker(tmp_path / "nowhere" / "bus.sock").start()


@pytest.mark.parametrize(
    "noise",
    [b"GET / HTTP/1.1\r\n\r\n", struct.pack("<IB", 1, 200), struct.pack("<I", 2**31)],
    ids=["another protocol", "unknown frame", "huge frame"],
)
def test_a_hostile_client_is_dropped_with_a_log_line_and_others_go_on(
    broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture, noise: bytes
) -> None:
    with closing(EmbeddedBus(broker.path).subscribe([Topic.EVENTS], Start.LATEST)) as subscription:
        with caplog.at_level(logging.WARNING), connect(broker) as hostile:
            hostile.sendall(noise)
            assert hostile.recv(1) == b""
            assert wait_for(lambda: broker.counts.clients_dropped == 1)
        assert "client was dropped" in caplog.text
        broker.publish_local(Topic.EVENTS, "k", b"still here")
        assert [message.payload for message in arrivals(subscription, 1)] == [b"still here"]


def test_what_is_counted_has_been_logged(broker: EmbeddedBroker) -> None:
    """Whoever sees that a client was dropped finds the reason in the log, however busy all are."""
    counted_when_logged = list[int]()

    class Watcher(logging.Handler):
        def emit(self, _record: logging.LogRecord) -> None:
            counted_when_logged.append(broker.counts.clients_dropped)

    watcher = Watcher(logging.WARNING)
    logger = logging.getLogger("paramedic.ingest.bus.embedded.server")
    logger.addHandler(watcher)
    try:
        with connect(broker) as hostile:
            hostile.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert wait_for(lambda: broker.counts.clients_dropped == 1)
    finally:
        logger.removeHandler(watcher)
    assert counted_when_logged == [0]


def test_a_client_that_leaves_in_the_middle_of_a_frame_does_no_harm(
    broker: EmbeddedBroker,
) -> None:
    with connect(broker) as client:
        client.sendall(struct.pack("<IB", 1000, 1) + b"half")
    bus = EmbeddedBus(broker.path)
    publisher = bus.publisher()
    publisher.publish(Topic.EVENTS, "k", b"x")
    publisher.flush(PATIENCE_SECONDS)
    publisher.close()
    assert broker.counts.clients_dropped == 0


def test_more_clients_than_allowed_are_turned_away(tmp_path: Path) -> None:
    limits = BrokerLimits(clients=2)
    with EmbeddedBroker(tmp_path / "bus.sock", limits) as broker:
        with connect(broker), connect(broker), connect(broker) as third:
            assert third.recv(1) == b""
        assert wait_for(lambda: broker.counts.clients_dropped == 1)


def test_a_slow_subscriber_never_blocks_publishers_and_learns_what_it_missed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    limits = BrokerLimits(Retention(limit_bytes=500_000))
    with EmbeddedBroker(tmp_path / "bus.sock", limits) as broker:
        bus = EmbeddedBus(broker.path)
        slow = bus.subscribe([Topic.TELEMETRY], Start.LATEST)
        publisher = bus.publisher()
        for _ in range(3000):
            publisher.publish(Topic.TELEMETRY, "k", bytes(1000))
        publisher.flush(PATIENCE_SECONDS)
        received = 0
        while received + slow.missed_messages < 3000:
            messages = slow.poll(PATIENCE_SECONDS)
            assert messages
            received += len(messages)
        publisher.close()
        slow.close()
        assert slow.missed_messages == broker.counts.messages_missed > 0
        assert received > 0
    assert "slow subscriber missed" in caplog.text


def test_a_subscriber_that_stood_still_for_long_comes_back_to_what_is_still_held(
    tmp_path: Path,
) -> None:
    now = [0.0]
    limits = BrokerLimits(Retention(limit_seconds=60.0))
    with EmbeddedBroker(tmp_path / "bus.sock", limits, lambda: now[0]) as broker:
        subscription = EmbeddedBus(broker.path).subscribe([Topic.EVENTS], Start.LATEST)
        # More than the socket and one batch hold: the broker looks no further then.
        for _ in range(8):
            broker.publish_local(Topic.EVENTS, "k", bytes(256 * 1024))
        now[0] = 50.0
        broker.publish_local(Topic.EVENTS, "k", b"young")
        now[0] = 100.0
        broker.publish_local(Topic.EVENTS, "k", b"new")
        messages: list[Message] = []
        while not messages or messages[-1].payload != b"new":
            messages += arrivals(subscription, 1)
        subscription.close()
        small = [message.payload for message in messages if len(message.payload) < 10]
        assert small == [b"young", b"new"]
        assert len(messages) + subscription.missed_messages == 10
        assert subscription.missed_messages > 0


def test_the_owner_publishes_without_waiting_for_anybody(broker: EmbeddedBroker) -> None:
    stuck = EmbeddedBus(broker.path).subscribe([Topic.EVENTS], Start.LATEST)
    durations = []
    for _ in range(500):
        started = time.perf_counter()
        broker.publish_local(Topic.EVENTS, "job", bytes(20_000))
        durations.append(time.perf_counter() - started)
    stuck.close()
    assert sorted(durations)[250] < 0.005


def oversized_publish() -> bytes:
    """A frame that is short enough, with a payload that is not."""
    payload = bytes(PAYLOAD_LIMIT_BYTES + 1)
    return struct.pack("<IBQBH", len(payload) + 12, 1, 1, 0, 0) + payload


def test_a_message_that_no_subscriber_could_get_is_refused_from_anybody(
    broker: EmbeddedBroker,
) -> None:
    with pytest.raises(ContractError, match="payload of"):
        broker.publish_local(Topic.EVENTS, "k", bytes(PAYLOAD_LIMIT_BYTES + 1))
    with connect(broker) as hostile:
        hostile.sendall(oversized_publish())
        assert hostile.recv(1) == b""
    with closing(EmbeddedBus(broker.path).subscribe([Topic.EVENTS], Start.EARLIEST)) as found:
        broker.publish_local(Topic.EVENTS, "k", bytes(PAYLOAD_LIMIT_BYTES))
        assert [len(message.payload) for message in arrivals(found, 1)] == [PAYLOAD_LIMIT_BYTES]


def test_the_owner_and_its_clients_are_on_one_bus(broker: EmbeddedBroker) -> None:
    inside = broker.bus().subscribe([Topic.EVENTS], Start.LATEST)
    outside = EmbeddedBus(broker.path).subscribe([Topic.EVENTS], Start.LATEST)
    publisher = EmbeddedBus(broker.path).publisher()
    publisher.publish(Topic.EVENTS, "k", b"from a client")
    publisher.flush(PATIENCE_SECONDS)
    broker.bus().publisher().publish(Topic.EVENTS, "k", b"from the owner")
    for subscription in (inside, outside):
        payloads = [message.payload for message in arrivals(subscription, 2)]
        assert payloads == [b"from a client", b"from the owner"]
        subscription.close()
    publisher.close()
