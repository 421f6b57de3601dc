"""Bus, agent and narrator start together, and nothing of them stays behind."""

from __future__ import annotations

import io
import socket
import threading
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from paramedic.api.settings.schema import ApiSettings, BusSettings, JobSettings, Settings
from paramedic.api.wiring.bus import run_bus
from paramedic.api.wiring.observing import subscribe_to_all
from paramedic.api.wiring.platform import Platform, start_platform
from paramedic.api.wiring.request import Place, RunRequest, prepare
from paramedic.api.wiring.socket_folder import socket_folder
from paramedic.ingest.contract import DeadLetter, Event, EventKind, Topic

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def request(folder: Path) -> RunRequest:
    return RunRequest(
        command=("sh",),
        job="train",
        run_folder=folder / "run",
        bare=False,
        settings=Settings(job=JobSettings(ranks=1, spares=0), api=ApiSettings(port=0)),
        folder=folder,
        environment={"PATH": "/usr/bin:/bin"},
    )


def start(folder: Path, stack: ExitStack, out: io.StringIO) -> tuple[Place, Platform]:
    place = prepare(request(folder), stack, NOON)
    return place, start_platform(request(folder), place, stack, out)


@pytest.mark.long
def test_an_event_goes_to_the_bus_and_to_the_narrator(tmp_path: Path) -> None:
    out = io.StringIO()
    with ExitStack() as stack:
        place, platform = start(tmp_path, stack, out)
        event = Event(
            NOON, EventKind.JOB_STATE, place.job, generation=0, details={"state": "starting"}
        )
        platform.publish(event)
        outside = subscribe_to_all(platform.bus_address)
        stack.callback(outside.close)
        (message,) = outside.poll(10.0)
        assert message.topic is Topic.EVENTS
        assert message.key == "train/0"
        assert Event.from_json(message.payload) == event
    assert out.getvalue() == "paramedic: event: job is starting (generation 0)\n"


@pytest.mark.long
def test_the_telemetry_socket_is_there_before_any_rank(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place, _platform = start(tmp_path, stack, io.StringIO())
        assert place.telemetry_socket.is_socket()


@pytest.mark.long
def test_a_datagram_that_is_no_telemetry_becomes_a_dead_letter_that_can_be_read(
    tmp_path: Path,
) -> None:
    with ExitStack() as stack:
        place, platform = start(tmp_path, stack, io.StringIO())
        dead = platform.bus.subscribe([Topic.DEAD_LETTER])
        stack.callback(dead.close)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as trainer:
            trainer.sendto(b"\xffnonsense", str(place.telemetry_socket))
        (message,) = dead.poll(10.0)
    letter = DeadLetter.from_json(message.payload)
    assert (letter.topic, letter.key, letter.offset) == (Topic.TELEMETRY, "train/0", -1)
    assert (letter.payload, letter.payload_bytes) == (b"\xffnonsense", 9)
    assert "datagram refused" in letter.reason


@pytest.mark.long
def test_nothing_stays_behind(tmp_path: Path) -> None:
    threads = set(threading.enumerate())
    with ExitStack() as stack:
        place, platform = start(tmp_path, stack, io.StringIO())
        assert place.listener is not None
        assert platform.api_address.endswith(str(place.listener.getsockname()[1]))
    assert set(threading.enumerate()) <= threads
    assert not place.sockets.exists()


def test_services_are_told_the_bus_and_given_the_socket(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place, platform = start(tmp_path, stack, io.StringIO())
        assert place.listener is not None
        names = [service.name for service in platform.services]
        assert names == ["diagnose", "remediate", "capture"]
        for service in platform.services:
            assert f"bus.address={platform.bus_address}" in service.command
        assert platform.services[1].pass_fds == (place.listener.fileno(),)


def test_the_embedded_bus_is_reached_by_its_address() -> None:
    with socket_folder() as sockets, run_bus(Settings(), {}, sockets, sockets) as bus:
        bus.publish(Topic.VERDICTS, "train/0", b"{}")
        inside = bus.subscribe([Topic.VERDICTS])
        outside = subscribe_to_all(bus.address)
        assert [one.payload for one in inside.poll(5.0)] == [b"{}"]
        assert [one.payload for one in outside.poll(5.0)] == [b"{}"]
        inside.close()
        outside.close()


@pytest.mark.connected
def test_publishing_to_a_dead_broker_never_waits_and_never_raises() -> None:
    settings = Settings(bus=BusSettings("kafka://127.0.0.1:1"))
    with run_bus(settings, {}, Path("/nonexistent"), Path("/nonexistent")) as bus:
        for _ in range(100):
            bus.publish(Topic.TELEMETRY, "train/0", b"x")
            bus.publish(Topic.EVENTS, "train/0", b"x")
