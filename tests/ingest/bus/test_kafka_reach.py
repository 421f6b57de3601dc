"""Whether a Kafka address answers is known in bounded time, with injected sockets and clock."""

from __future__ import annotations

import socket

import pytest

from paramedic.ingest.bus.kafka_reach import require_listener
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

    def connect(self, address: tuple[str, int], timeout_seconds: float) -> socket.socket:
        assert timeout_seconds > 0
        self.tried.append(address)
        if self.now < self._answers_from.get(address[0], float("inf")):
            raise ConnectionRefusedError(111, "Connection refused")
        return socket.socket()

    def require(self, *servers: str) -> None:
        settings = KafkaSettings(servers, connect_seconds=5.0)
        require_listener(settings, self.clock, self.pause, self.connect)


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
