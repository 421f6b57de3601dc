"""The heart-beat's channel never blocks, never raises, and counts what it drops."""

from __future__ import annotations

import json
import socket
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.remediation.trainer.step_times import SecondOfSteps
from paramedic.remediation.trainer.telemetry import (
    DatagramChannel,
    Place,
    Telemetry,
    seconds_to_next,
)


@pytest.fixture
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        yield Path(folder) / "t.sock"


@pytest.fixture
def channel(path: Path) -> Iterator[DatagramChannel]:
    opened = DatagramChannel(path)
    yield opened
    opened.close()


def listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(str(path))
    listener.setblocking(False)
    return listener


def header_of(data: bytes) -> dict[str, object]:
    (length,) = struct.unpack_from("<I", data, 5)
    parsed: dict[str, object] = json.loads(data[9 : 9 + length])
    return parsed


def test_nobody_listens_and_every_datagram_is_counted(channel: DatagramChannel) -> None:
    channel.send(b"one")
    channel.send(b"two")
    assert channel.dropped == 2


def test_a_full_listener_costs_datagrams_and_no_time(path: Path, channel: DatagramChannel) -> None:
    with listen(path):
        for _ in range(2000):
            channel.send(b"x" * 500)
    assert 0 < channel.dropped < 2000


def test_a_listener_that_comes_later_is_found(path: Path, channel: DatagramChannel) -> None:
    channel.send(b"lost")
    with listen(path) as listener:
        channel.send(b"heard")
        assert listener.recv(100) == b"heard"
    assert channel.dropped == 1


def telemetry(channel: DatagramChannel) -> Telemetry:
    second = SecondOfSteps()
    return Telemetry("job", "node-0001", second, channel, lambda: 0.0)


def test_a_worker_without_a_rank_sends_nothing(path: Path, channel: DatagramChannel) -> None:
    with listen(path) as listener:
        telemetry(channel).send(100.0)
        with pytest.raises(BlockingIOError):
            listener.recv(1000)


def test_a_beat_carries_its_place_the_time_and_the_drops(
    path: Path, channel: DatagramChannel
) -> None:
    channel.send(b"lost")
    sender = telemetry(channel)
    sender.place = Place(generation=3, rank=2)
    with listen(path) as listener:
        sender.send(1767226272.001)
        data = listener.recv(4000)
    header = header_of(data)
    assert (header["generation"], header["second"], header["job"]) == (3, 1767226271, "job")
    assert struct.unpack("<dd", data[-16:]) == (1767226272.001, 1.0)


def test_two_beats_never_carry_the_same_second(path: Path, channel: DatagramChannel) -> None:
    sender = telemetry(channel)
    sender.place = Place(0, 0)
    with listen(path) as listener:
        for now in (99.98, 100.001, 101.0):
            sender.send(now)
        seconds = [header_of(listener.recv(4000))["second"] for _ in range(2)]
        with pytest.raises(BlockingIOError):
            listener.recv(4000)
    assert seconds == [99, 100]


@given(st.floats(0, 4e9))
def test_the_next_beat_comes_within_a_second_and_never_at_once(now: float) -> None:
    assert 0.01 <= seconds_to_next(now) <= 1.0
