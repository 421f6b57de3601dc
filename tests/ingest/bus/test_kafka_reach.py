"""Whether a Kafka address answers is known in bounded time, with injected sockets and clock."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from paramedic.ingest.bus.kafka_reach import ask_for_versions, require_broker
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.contract import BusUnavailableError


class Network:
    """Hosts that refuse until a time; time passes only by pausing."""

    def __init__(self, answers_from: dict[str, float]) -> None:
        self.now = 100.0
        self.tried: list[tuple[str, int]] = []
        self._answers_from = answers_from

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def ask(self, host: str, port: int, timeout_seconds: float) -> None:
        assert timeout_seconds > 0
        self.tried.append((host, port))
        if self.now < self._answers_from.get(host, float("inf")):
            raise ConnectionRefusedError(111, "Connection refused")

    def require(self, *servers: str) -> None:
        settings = KafkaSettings(servers, connect_seconds=5.0)
        require_broker(settings, self.clock, self.pause, self.ask)


def test_one_server_that_answers_is_enough() -> None:
    network = Network({"two": 0.0})
    network.require("one:9092", "two:9093", "three:9094")
    assert network.tried == [("one", 9092), ("two", 9093)]
    assert network.now == 100.0


def test_a_server_that_is_just_starting_is_waited_for() -> None:
    network = Network({"one": 103.0})
    network.require("one:9092")
    assert 103.0 <= network.now < 103.2


def test_an_address_of_version_six_loses_its_brackets() -> None:
    network = Network({"::1": 0.0})
    network.require("[::1]:9092")
    assert network.tried == [("::1", 9092)]


def test_nobody_answering_is_one_clear_line_after_the_time_set() -> None:
    network = Network({})
    with pytest.raises(BusUnavailableError) as caught:
        network.require("one:9092", "two:9092")
    assert str(caught.value) == (
        "no Kafka broker answers at one:9092, two:9092 (after 5 s, Connection refused):"
        " start one, or run without --bus kafka"
    )
    assert 104.8 <= network.now <= 105.0


@contextmanager
def answering(*pieces: bytes) -> Iterator[int]:
    """The port of a server that reads one request and answers it with these pieces."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _peer = server.accept()
            with connection:
                connection.recv(100)
                for piece in pieces:
                    connection.sendall(piece)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(5)


def test_a_broker_that_answers_the_question_is_taken_however_its_answer_is_cut() -> None:
    answer = struct.pack(">iih", 6, 0x50415241, 0)
    with answering(answer[:3], answer[3:]) as port:
        ask_for_versions("127.0.0.1", port, 5.0)


@pytest.mark.parametrize("reply", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0"])
def test_whatever_else_answers_is_no_broker(reply: bytes) -> None:
    with answering(reply) as port, pytest.raises(ConnectionError, match="no Kafka broker"):
        ask_for_versions("127.0.0.1", port, 5.0)


def test_a_server_that_says_nothing_is_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(TimeoutError):
        ask_for_versions("127.0.0.1", silent.getsockname()[1], 0.05)
