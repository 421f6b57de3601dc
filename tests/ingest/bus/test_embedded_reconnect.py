"""Brokers that are killed and come back, with real processes on both sides."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from paramedic.ingest.bus.embedded.broker import EmbeddedBroker
from paramedic.ingest.bus.embedded.client import EmbeddedBus
from paramedic.ingest.bus.embedded.link import Patience, Timing
from paramedic.ingest.contract import BusUnavailableError, Start, Topic

HERE = Path(__file__).parent
IMPATIENT = Timing(Patience(connect_seconds=0.05, reconnect_seconds=0.1, retry_seconds=0.01))
PATIENCE_SECONDS = 60.0


@contextmanager
def process(script: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that is killed in all cases."""
    started = subprocess.Popen(
        [sys.executable, str(HERE / script), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        with started:
            try:
                yield started
            finally:
                started.kill()
    finally:
        started.wait()


def line(started: subprocess.Popen[bytes]) -> bytes:
    assert started.stdout is not None
    return started.stdout.readline().strip()


@pytest.mark.long
def test_a_broker_that_is_killed_and_comes_back_loses_nothing_that_comes_after(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "bus.sock")
    with process("serve_broker.py", path) as first:
        assert line(first) == b"serving"
        subscription = EmbeddedBus(Path(path)).subscribe([Topic.TELEMETRY], Start.LATEST)
        with process("publish_forever.py", path, "400") as publisher:
            acknowledged = [line(publisher) for _ in range(50)]
            numbers = [int(message.payload) for message in subscription.poll(PATIENCE_SECONDS)]
            first.kill()
            first.wait()
            with process("serve_broker.py", path) as second:
                assert line(second) == b"serving"
                deadline = time.monotonic() + PATIENCE_SECONDS
                while (not numbers or numbers[-1] != 399) and time.monotonic() < deadline:
                    numbers += [int(message.payload) for message in subscription.poll(0.5)]
                assert publisher.wait(PATIENCE_SECONDS) == 0
        subscription.close()
    assert acknowledged[-1] == b"49"
    assert numbers[-1] == 399
    # A message in flight may come twice; only what the dead broker alone held is gone, in one gap.
    assert numbers == sorted(numbers)
    assert sum(after > before + 1 for before, after in pairwise(numbers)) <= 1


def test_a_publisher_sends_again_what_was_not_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "bus.sock"
    with EmbeddedBroker(path):
        publisher = EmbeddedBus(path).publisher()
        publisher.publish(Topic.EVENTS, "k", b"to the first")
        publisher.flush(PATIENCE_SECONDS)
    with EmbeddedBroker(path) as second:
        inside = second.bus().subscribe([Topic.EVENTS], Start.LATEST)
        publisher.publish(Topic.EVENTS, "k", b"to the second")
        publisher.flush(PATIENCE_SECONDS)
        assert [message.payload for message in inside.poll(0)] == [b"to the second"]
        publisher.close()


def test_a_publisher_whose_connection_breaks_within_a_frame_sends_the_whole_frame_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bus.sock"
    with listening(path) as breaking:
        publisher = EmbeddedBus(path).publisher()
        connection, _ = breaking.accept()
        sending = threading.Thread(
            target=publisher.publish, args=(Topic.EVENTS, "k", bytes(4_000_000))
        )
        sending.start()
        assert connection.recv(100_000), "it is in the middle of its frame now"
        connection.close()
    path.unlink()
    with EmbeddedBroker(path) as broker:
        sending.join(PATIENCE_SECONDS)
        publisher.flush(PATIENCE_SECONDS)
        publisher.close()
        taken = broker.bus().subscribe([Topic.EVENTS], Start.EARLIEST).poll(0)
        assert [message.payload == bytes(4_000_000) for message in taken] == [True]
        assert broker.counts.clients_dropped == 0


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """A socket at the path of a broker, to be a broker that fails."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen()
        server.settimeout(PATIENCE_SECONDS)
        yield server


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\x05\0\0\0"],
    ids=["another protocol", "nothing", "half a frame"],
)
def test_whatever_listens_there_and_is_no_broker_is_reported_in_one_line(
    tmp_path: Path, answer: bytes
) -> None:
    path = tmp_path / "bus.sock"
    with listening(path) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(BusUnavailableError, match=f"no broker answers at {path}") as caught:
            EmbeddedBus(path, IMPATIENT).subscribe([Topic.EVENTS], Start.LATEST)
        thread.join(PATIENCE_SECONDS)
    assert "\n" not in str(caught.value)


def test_a_subscriber_goes_on_with_the_next_broker_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "bus.sock"
    with EmbeddedBroker(path) as first:
        subscription = EmbeddedBus(path).subscribe([Topic.EVENTS], Start.LATEST)
        first.publish_local(Topic.EVENTS, "k", b"1")
        assert [message.payload for message in subscription.poll(PATIENCE_SECONDS)] == [b"1"]
    assert list(subscription.poll(0.0)) == []
    with EmbeddedBroker(path) as second:
        second.publish_local(Topic.EVENTS, "k", b"2")
        assert [message.payload for message in subscription.poll(PATIENCE_SECONDS)] == [b"2"]
        subscription.close()


def test_a_broker_that_stays_away_is_reported_after_the_patience(tmp_path: Path) -> None:
    path = tmp_path / "bus.sock"
    with EmbeddedBroker(path):
        bus = EmbeddedBus(path, IMPATIENT)
        subscription, publisher = bus.subscribe([Topic.EVENTS], Start.LATEST), bus.publisher()
    assert list(subscription.poll(0.02)) == []
    with pytest.raises(BusUnavailableError, match="no broker answers"):
        subscription.poll(5.0)
    with pytest.raises(BusUnavailableError, match="no broker answers"):
        publisher.publish(Topic.EVENTS, "k", b"lost")
    with EmbeddedBroker(path) as again:
        again.publish_local(Topic.EVENTS, "k", b"back")
        assert [message.payload for message in subscription.poll(PATIENCE_SECONDS)] == [b"back"]
        publisher.publish(Topic.EVENTS, "k", b"taken")
        publisher.flush(PATIENCE_SECONDS)
        taken = again.bus().subscribe([Topic.EVENTS], Start.EARLIEST).poll(0)
        assert [message.payload for message in taken] == [b"back", b"taken"]
        subscription.close()
        publisher.close()


def test_closing_without_a_broker_says_what_was_lost_and_only_that(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, now = tmp_path / "bus.sock", [0.0]

    def pause(seconds: float) -> None:
        now[0] += seconds

    with listening(path) as broken:
        publisher = EmbeddedBus(path, Timing(clock=lambda: now[0], pause=pause)).publisher()
        connection, _ = broken.accept()
        publisher.publish(Topic.EVENTS, "k", b"never acknowledged")
        connection.close()
    with pytest.raises(BusUnavailableError):
        publisher.publish(Topic.EVENTS, "k", b"refused, and so not lost")
    publisher.close()
    assert "1 messages were not published" in caplog.text
    assert now[0] == pytest.approx(6.0, abs=0.2), "five for publishing, one for closing"
