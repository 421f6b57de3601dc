"""How a capture is put together, and how a run asks for one."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.recordings.recorded import event
from paramedic.api.command_line import extras
from paramedic.api.command_line.dispatch import read_call
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.settings.schema import RecordingSettings, Settings
from paramedic.api.wiring.capture import CaptureRequest, RingWanted, _why_empty, capture
from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.service_commands import INTERPRETER, Services
from paramedic.api.wiring.source_request import SourceRequest
from paramedic.ingest.contract import JobName, Message, Topic
from paramedic.ingest.folder_lock import FolderInUseError, alone_in
from paramedic.ingest.recordings.capturing import Capture
from paramedic.ingest.recordings.errors import RecordingExistsError
from paramedic.ingest.recordings.shelves import JobShelf

SOURCELESS = SourceRequest()


def request(out: Path, **more: object) -> CaptureRequest:
    plain = CaptureRequest(out, "memory:", SOURCELESS, Settings(), seconds=0.01)
    return replace(plain, **more)  # type: ignore[arg-type]


def captured(wanted: CaptureRequest, code: int = 0) -> tuple[Mapping[str, object], list[str]]:
    out, err = io.StringIO(), io.StringIO()
    assert capture(wanted, out, err) == code
    return json.loads(out.getvalue()), err.getvalue().splitlines()


@pytest.mark.parametrize(("ring", "code"), [(None, 1), (RingWanted(1.0, 10.0), 0)])
def test_a_silent_bus_leaves_no_recording_and_says_so(
    tmp_path: Path, ring: RingWanted | None, code: int
) -> None:
    told, lines = captured(request(tmp_path / "r", ring=ring), code)
    assert told == {"recordings": [], "rows": 0, "events": 0, "lost": 0, "unreadable": 0}
    assert lines == [
        f"paramedic: recording to {tmp_path / 'r'}",
        "paramedic: no telemetry was heard: there is no recording",
    ]
    assert list((tmp_path / "r").iterdir()) == []


@pytest.mark.parametrize("ring", [None, RingWanted(1.0, 10.0)])
def test_two_captures_do_not_write_into_one_folder(tmp_path: Path, ring: RingWanted | None) -> None:
    wanted = request(tmp_path / "r", ring=ring)
    with (
        alone_in(tmp_path / "r", "a capture"),
        pytest.raises(FolderInUseError, match=f"in use: a capture of process {os.getpid()} is at"),
    ):
        capture(wanted, io.StringIO(), io.StringIO())


def test_a_job_that_nobody_heard_of_is_told_with_those_that_were_there(tmp_path: Path) -> None:
    _told, lines = captured(request(tmp_path / "r", job="nosuch"), 1)
    nothing = "no telemetry of job nosuch was heard: there is no recording; jobs that were heard of"
    assert lines[-1] == f"paramedic: {nothing}: none"
    done = Capture(JobShelf(tmp_path, None, every_job=False, tell=lines.append), 0.0, lines.append)
    for number in range(12):
        told = event(0, job=JobName(f"job-{number:02d}"))
        done.take(Message(Topic.EVENTS, "any/0", told.to_json(), offset=0), 0.0)
    names = ", ".join(f"job-{number:02d}" for number in range(10))
    assert _why_empty(request(tmp_path, job="nosuch"), done) == f"{nothing}: {names} and 2 more"


def test_a_folder_that_cannot_be_used_is_told_before_anything_is_heard(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        PreflightError, match=r"--out .*/file/r cannot be written \(Not a directory"
    ):
        captured(request(tmp_path / "file" / "r"))
    (tmp_path / "job.json").write_text("{}")
    for ring in (None, RingWanted(1.0, 10.0)):
        with pytest.raises(RecordingExistsError, match="holds a recording already"):
            captured(request(tmp_path, ring=ring))


def test_sources_that_cannot_work_are_told_before_anything_is_asked(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("not a host at all\n")
    sources = SourceRequest(exporters=hosts)
    with pytest.raises(PreflightError, match=r"hosts\.txt"):
        captured(request(tmp_path / "r", bus_address=None, sources=sources))


@pytest.mark.long
def test_sources_are_read_straight_where_no_bus_is_named(tmp_path: Path) -> None:
    """Exporters that are away are waited for; the end still comes when it was asked for."""
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("127.0.0.1:1\n")
    sources = SourceRequest(exporters=hosts)
    told, lines = captured(request(tmp_path / "r", bus_address=None, sources=sources), 1)
    assert told["rows"] == 0
    assert lines[-1] == "paramedic: no telemetry was heard: there is no recording"


def asked_for(settings: Settings, folder: Path) -> list[list[str]]:
    """The arguments with which a run starts its captures."""
    services = Services("unix:/tmp/b.sock", folder, settings, {}, lambda _line: None).capture()
    assert all(service.log_path == folder / "logs" / "capture.log" for service in services)
    return [list(service.command[len(INTERPRETER) :]) for service in services]


def test_a_run_asks_for_a_ring_in_its_folder_with_its_settings(tmp_path: Path) -> None:
    wanted = Settings(recording=RecordingSettings(ring_bytes=5_000_000, segment_seconds=90.0))
    (arguments,) = asked_for(wanted, tmp_path)
    around = Surroundings(tmp_path, {}, io.StringIO(), io.StringIO())
    verb, call = read_call(arguments, around)
    flags = call.flags
    assert (verb.name, flags.ring, flags.out) == ("capture", True, tmp_path / "ring")
    assert math.isclose(flags.cap_gigabytes * 1e9, 5_000_000)
    assert flags.segment_minutes == 1.5
    assert call.settings.bus.address == "unix:/tmp/b.sock"
    assert call.settings.recording == wanted.recording


def test_a_ring_of_nothing_is_no_ring_and_needs_no_package(tmp_path: Path) -> None:
    without = Settings(recording=RecordingSettings(ring_bytes=0))
    assert asked_for(without, tmp_path) == []
    assert extras.of_ring(without) == ()
    assert "pyarrow" in extras.of_ring(Settings())
