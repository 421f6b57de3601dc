"""The course of a watched run: it settles, ends by itself or by time, or is given up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from paramedic.api.demo.child import ChildVerb
from paramedic.api.demo.errors import DemoRunError
from paramedic.api.demo.request import DemoRequest
from paramedic.api.demo.screen import Screen
from paramedic.api.demo.watch import Watch
from paramedic.api.demo.watched_run import Watched, _Course, _wait_for_record
from paramedic.api.settings.schema import Settings
from paramedic.api.wiring.narration import Line
from paramedic.ingest.contract import (
    BusUnavailableError,
    Entity,
    JobName,
    Message,
    NodeName,
    Table,
    TelemetryBatch,
    Topic,
)
from paramedic.remediation.launchers.local.child_process import ProcessSpec, start_process

StartChild = Callable[[str], ChildVerb]


class Silent:
    """A screen that keeps the lines only."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def line(self, line: Line, _seconds: float | None) -> None:
        self.texts.append(line.text)

    def status(self, text: str) -> None:
        pass

    def close(self) -> None:
        pass


class Bus:
    """A subscription that says the same at every poll, or is gone."""

    def __init__(self, messages: Sequence[Message] = (), *, is_gone: bool = False) -> None:
        self._messages = messages
        self._is_gone = is_gone

    def poll(self, _timeout_seconds: float) -> Sequence[Message]:
        if self._is_gone:
            raise BusUnavailableError("gone")
        return self._messages

    def close(self) -> None:
        pass


STEP_ONE = Message(Topic.TELEMETRY, "demo/0", b"1", 0)


def read_step(payload: bytes) -> TelemetryBatch:
    table = Table(Entity.RANK, (NodeName("node-0000"),), (0,), {"step": (float(payload),)})
    return TelemetryBatch(JobName("demo"), 0, 0, (table,))


@pytest.fixture(name="start")
def _start(tmp_path: Path) -> Iterator[StartChild]:
    started: list[ChildVerb] = []

    def start(script: str) -> ChildVerb:
        spec = ProcessSpec(
            command=("/bin/sh", "-c", script),
            environment={"PATH": os.defpath},
            log_path=tmp_path / "run.log",
        )
        started.append(ChildVerb(start_process(spec)))
        return started[-1]

    yield start
    for child in started:
        child.end()


def request(**changes: Any) -> DemoRequest:
    fields: dict[str, Any] = {
        "fault": "none", "steps": None, "seconds": None, "rank": None, "seed": None,
        "script": None, "keep": False, "run_folder": None, "settings": Settings(),
        "folder": Path("/"), "environment": {},
    }  # fmt: skip
    return DemoRequest.checked(**{**fields, **changes})


def seconds_that_jump_by(step_seconds: float) -> Callable[[], float]:
    """A clock that goes on by so much whenever it is asked."""
    now = [0.0]

    def clock() -> float:
        now[0] += step_seconds
        return now[0]

    return clock


def follow(
    wanted: DemoRequest,
    child: ChildVerb,
    bus: Bus,
    folder: Path,
    screen: Screen | None = None,
    clock: Callable[[], float] = lambda: 0.0,
) -> Watched:
    watch = Watch(bus, screen or Silent(), clock, read_step)
    return _Course(wanted, child, watch, folder / "control.sock", folder / "run.log").follow()


def test_a_healthy_run_is_watched_to_its_end_and_keeps_its_exit_code(
    tmp_path: Path, start: StartChild
) -> None:
    watched = follow(request(), start("exit 3"), Bus(), tmp_path)
    assert (watched.exit_code, watched.injection, watched.ranks_of_nodes) == (3, None, {})


def test_a_run_that_is_ended_by_time_counts_as_ended_well(
    tmp_path: Path, start: StartChild
) -> None:
    # The first step is seen at 0 s of the watch's clock, which is long ago for the machine's.
    watched = follow(request(seconds=1.0), start("exec sleep 60"), Bus([STEP_ONE]), tmp_path)
    assert watched.exit_code == 0


def test_a_run_that_reaches_no_new_step_is_given_up_and_said_so(
    tmp_path: Path, start: StartChild
) -> None:
    screen = Silent()
    child = start("exec sleep 60")
    watched = follow(request(), child, Bus(), tmp_path, screen, seconds_that_jump_by(100.0))
    assert screen.texts == ["no new step for 180 s: the run is ended"]
    assert watched.exit_code == 130


@pytest.mark.long
def test_a_bus_that_goes_first_is_no_reason_to_leave_the_run(
    tmp_path: Path, start: StartChild
) -> None:
    child = start("sleep 0.3; exit 4")
    assert follow(request(), child, Bus(is_gone=True), tmp_path).exit_code == 4


def test_a_run_that_breaks_before_the_fault_is_told_with_its_last_words(
    tmp_path: Path, start: StartChild
) -> None:
    child = start("echo starting; echo no data here; exit 1")
    with pytest.raises(DemoRunError, match="broke before the fault: no data here"):
        follow(request(fault="kill"), child, Bus(), tmp_path)


def test_a_run_that_never_trains_is_given_up_before_the_fault(
    tmp_path: Path, start: StartChild
) -> None:
    child = start("exec sleep 60")
    with pytest.raises(DemoRunError, match="no rank reported a step for 180 s: see the logs"):
        follow(request(fault="kill"), child, Bus(), tmp_path, clock=seconds_that_jump_by(100.0))


def test_a_run_that_ends_without_a_record_did_not_start(tmp_path: Path, start: StartChild) -> None:
    child = start("echo 'paramedic: port 8370 cannot be used'; exit 2")
    with pytest.raises(DemoRunError, match="did not start: paramedic: port 8370 cannot be used"):
        _wait_for_record(child, tmp_path, tmp_path / "run.log")
