"""The collecting process: what it says, what it buries, and how it ends."""

from __future__ import annotations

import io
import os
import signal
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from paramedic.api.settings.schema import Settings
from paramedic.api.wiring import collect as wiring
from paramedic.api.wiring.collect import CollectRequest, collect
from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.source_request import SourceRequest
from paramedic.ingest.bus.embedded.broker import EmbeddedBroker
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.bus.outbox import Outbox
from paramedic.ingest.contract import DeadLetter, Start, Topic
from paramedic.ingest.sources.kafka_topics.consumer import Record
from servers.prometheus import free_port


def request(bus: str, hosts: Path, **changes: object) -> CollectRequest:
    return CollectRequest(
        bus_address=bus,
        sources=SourceRequest(exporters=hosts),
        settings=Settings(),
        environment={},
        **changes,  # type: ignore[arg-type]
    )


def test_a_line_for_people_goes_to_standard_error_and_to_who_watches(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    errors = io.StringIO()
    wiring._tell(request("unix:/b", tmp_path, tell_descriptor=write_end), errors, "no GPU metrics")
    wiring._tell(request("unix:/b", tmp_path), errors, "alone")
    os.close(write_end)
    with os.fdopen(read_end) as watched:
        assert watched.read() == "no GPU metrics\n"
    assert errors.getvalue() == "paramedic: no GPU metrics\nparamedic: alone\n"


def test_a_message_of_another_tool_that_cannot_be_read_is_a_dead_letter() -> None:
    bus = MemoryBus()
    letters = Outbox(bus.publisher, 10)
    wiring._bury(letters, Record("metrics", 3, 17, b"{broken"), "not_json")
    letters.start()
    assert letters.close(10.0)
    (message,) = bus.subscribe([Topic.DEAD_LETTER], Start.EARLIEST).poll(0.0)
    letter = DeadLetter.from_json(message.payload)
    assert (letter.key, letter.partition, letter.offset) == ("metrics/3", 3, 17)
    assert (letter.reason, letter.payload) == ("not_json", b"{broken")


def test_a_source_that_can_never_work_ends_it_before_anything_runs(tmp_path: Path) -> None:
    threads = threading.active_count()
    with pytest.raises(PreflightError, match="nothere"):
        collect(request("memory:", tmp_path / "nothere"), io.StringIO())
    assert threading.active_count() == threads


@pytest.mark.connected
def test_it_tells_who_gives_nothing_answers_metrics_and_ends_with_a_signal(tmp_path: Path) -> None:
    hosts, sign, port = tmp_path / "hosts.txt", tmp_path / "collect.alive", free_port()
    hosts.write_text(f"127.0.0.1:{free_port()}\n")
    errors = io.StringIO()
    pages: list[str] = []

    def watch() -> None:
        deadline = time.monotonic() + 30
        while "gives nothing" not in errors.getvalue() and time.monotonic() < deadline:
            time.sleep(0.05)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            pages.append(answer.read().decode())
        os.kill(os.getpid(), signal.SIGTERM)

    watcher = threading.Thread(target=watch)
    with EmbeddedBroker(tmp_path / "bus.sock"):
        watcher.start()
        asked = request(f"unix:{tmp_path}/bus.sock", hosts, metrics_port=port, sign_file=sign)
        assert collect(asked, errors) == 0
    watcher.join(10)
    assert "gives nothing: " in errors.getvalue()
    assert "paramedic_collect_silent_origins" in pages[0]
    assert sign.exists()
