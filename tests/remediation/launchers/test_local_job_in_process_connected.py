"""The supervisor and its child processes, driven from the test's own process."""

from __future__ import annotations

import os
import selectors
import signal
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from paramedic.ingest.contract import Event, EventKind, JobName
from paramedic.remediation.launchers.local.back_off import BackOffRule
from paramedic.remediation.launchers.local.child_process import (
    ChildProcess,
    ProcessSpec,
    start_process,
)
from paramedic.remediation.launchers.local.commands import JobEnd, MembershipRules
from paramedic.remediation.launchers.local.event_loop import EventLoop
from paramedic.remediation.launchers.local.exit_status import ExitStatus
from paramedic.remediation.launchers.local.job_config import LocalJobConfig
from paramedic.remediation.launchers.local.local_job import JobResult, LocalJob
from paramedic.remediation.launchers.local.service_keeper import ServiceKeeper, ServiceSpec
from paramedic.remediation.launchers.port import LauncherSetupError

pytestmark = pytest.mark.connected

WORKER = (sys.executable, str(Path(__file__).parent / "programs" / "worker.py"))


class SetClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)


def config(
    folder: Path, *, command: tuple[str, ...] = WORKER, **environment: str
) -> LocalJobConfig:
    return LocalJobConfig(
        job=JobName("demo"),
        command=command,
        rules=MembershipRules(ranks=2, spares=0),
        run_folder=folder / "run",
        control_socket=folder / "control.sock",
        base_environment={**os.environ, **environment},
        service_drain_seconds=0.0,
    )


def shell(folder: Path, script: str, **environment: str) -> ProcessSpec:
    return ProcessSpec(
        command=("/bin/sh", "-c", script),
        environment={"PATH": os.defpath, **environment},
        log_path=folder / "log",
    )


def test_the_result_tells_who_failed_and_what_it_said_last(tmp_path: Path) -> None:
    result = LocalJob(config(tmp_path, WORKER_EXITS_WITH="5"), lambda _event: None).run()
    assert (result.end, result.exit_code) == (JobEnd.FAILED, 5)
    assert result.status == ExitStatus(exit_code=5)
    assert result.node is not None
    assert result.log_path == tmp_path / "run" / "logs" / f"{result.node}.log"
    assert result.last_line == "this worker is broken"


def test_events_carry_the_jobs_name_and_the_clocks_time(tmp_path: Path) -> None:
    events: list[Event] = []
    started_at = datetime.now(UTC)
    result = LocalJob(config(tmp_path, WORKER_FINISHES_IN="0"), events.append).run()
    assert result == JobResult(end=JobEnd.FINISHED, exit_code=0, reason="every rank finished")
    assert {event.job for event in events} == {"demo"}
    times = [event.timestamp for event in events]
    assert times == sorted(times)
    assert started_at <= times[0] <= times[-1] <= datetime.now(UTC)


def test_another_thread_can_stop_the_job(tmp_path: Path) -> None:
    trains = threading.Event()

    def publish(event: Event) -> None:
        if event.kind is EventKind.JOB_STATE and event.details["state"] == "training":
            trains.set()

    job = LocalJob(config(tmp_path), publish)

    def stop() -> None:
        trains.wait()
        job.stop("the demonstration is over")

    thread = threading.Thread(target=stop, daemon=True)
    thread.start()
    result = job.run()
    thread.join()
    assert (result.end, result.exit_code) == (JobEnd.STOPPED, 0)
    assert result.reason == "the demonstration is over"
    job.stop("twice is harmless")


def test_the_signal_handlers_are_given_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    LocalJob(config(tmp_path, WORKER_FINISHES_IN="0"), lambda _event: None).run()
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(LauncherSetupError, match=r"run folder .*/run: .*choose a folder"):
        LocalJob(config(tmp_path), lambda _event: None).run()


def test_a_working_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    spec = ProcessSpec(
        command=("/bin/true",),
        environment={},
        log_path=tmp_path / "log",
        working_folder=tmp_path / "absent",
    )
    with pytest.raises(LauncherSetupError, match=r"absent: .*check the working folder"):
        start_process(spec)


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    spec = ProcessSpec(command=("true",), environment={}, log_path=tmp_path / "absent" / "log")
    with pytest.raises(LauncherSetupError, match=r"check that .*absent/log can be written"):
        start_process(spec)


def test_an_empty_command_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LauncherSetupError, match="say what to run after `--`"):
        config(tmp_path, command=())


def test_both_outputs_go_to_the_end_of_the_log(tmp_path: Path) -> None:
    for number in (1, 2):
        child = start_process(
            shell(tmp_path, f"echo out {number}; echo error {number} >&2; exit 4")
        )
        assert child.reap() == ExitStatus(exit_code=4)
    assert (tmp_path / "log").read_text() == "out 1\nerror 1\nout 2\nerror 2\n"


def test_the_environment_is_the_given_one_alone(tmp_path: Path) -> None:
    start_process(shell(tmp_path, "env", GIVEN="1")).reap()
    names = {line.split("=")[0] for line in (tmp_path / "log").read_text().splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH", "GIVEN"}


def test_a_signal_after_the_end_is_harmless(tmp_path: Path) -> None:
    child = start_process(shell(tmp_path, "exit 0"))
    child.reap()
    child.signal_group(signal.SIGKILL)


def test_a_child_leads_a_session_of_its_own(tmp_path: Path) -> None:
    child = start_process(shell(tmp_path, "sleep 60"))
    assert os.getsid(child.process_id) == child.process_id
    child.signal_group(signal.SIGTERM)
    assert child.reap() == ExitStatus(signal=signal.SIGTERM)


class KeptService:
    """A service under a set clock, with what was started for it."""

    def __init__(self, folder: Path, script: str) -> None:
        self.clock = SetClock()
        self.loop = EventLoop(self.clock)
        self.started: list[ChildProcess] = []
        self.said: list[str] = []
        self.refuses = False
        spec = shell(folder, script)
        self.keeper = ServiceKeeper(
            ServiceSpec(
                name="diagnose",
                command=spec.command,
                environment=spec.environment,
                log_path=spec.log_path,
                back_off=BackOffRule(first_seconds=0.5, longest_seconds=10.0),
                tell=self.said.append,
            ),
            self.loop,
            self.clock,
            self.start,
        )

    def start(self, spec: ProcessSpec) -> ChildProcess:
        if self.refuses:
            raise LauncherSetupError("no process is left")
        self.started.append(start_process(spec))
        return self.started[-1]

    def turn_until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self.loop.run_once()

    def close(self) -> None:
        self.keeper.kill()
        self.keeper.reap()
        self.loop.close()


def test_a_service_that_keeps_ending_is_started_ever_later(tmp_path: Path) -> None:
    service = KeptService(tmp_path, "exit 1")
    service.keeper.start()
    for delay_seconds in (0.5, 1.0, 2.0):
        service.turn_until(lambda: not service.keeper.is_alive)
        count = len(service.started)
        service.clock.seconds += delay_seconds - 0.1
        service.loop.wake()
        service.loop.run_once()
        assert len(service.started) == count
        service.clock.seconds += 0.1
        service.loop.wake()
        service.loop.run_once()
        assert len(service.started) == count + 1
    service.close()


def test_a_service_that_cannot_be_started_again_is_tried_later(tmp_path: Path) -> None:
    service = KeptService(tmp_path, "exit 1")
    service.keeper.start()
    service.turn_until(lambda: not service.keeper.is_alive)
    service.refuses = True
    service.clock.seconds += 0.5
    service.loop.run_once()
    service.refuses = False
    service.clock.seconds += 1.0
    service.loop.run_once()
    assert len(service.started) == 2
    ended, back = service.said
    assert ended.startswith("diagnose exited with 1; training goes on (")
    assert back == "diagnose is back"
    service.close()


def test_a_service_that_was_ended_stays_ended(tmp_path: Path) -> None:
    service = KeptService(tmp_path, "sleep 60")
    service.keeper.start()
    service.keeper.end()
    service.turn_until(lambda: not service.keeper.is_alive)
    service.clock.seconds += 100
    service.loop.wake()
    service.loop.run_once()
    assert len(service.started) == 1
    service.close()


def test_an_exit_makes_its_descriptor_readable(tmp_path: Path) -> None:
    child = start_process(shell(tmp_path, "exit 0"))
    with selectors.DefaultSelector() as selector:
        selector.register(child.exit_descriptor, selectors.EVENT_READ)
        assert selector.select(timeout=30)
    child.reap()
