"""After the job its services may finish their work, within bounds, and a second stop ends them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from paramedic.ingest.contract import JobName
from paramedic.remediation.launchers.local.commands import JobEnd, MembershipRules
from paramedic.remediation.launchers.local.job_config import LocalJobConfig
from paramedic.remediation.launchers.local.local_job import LocalJob
from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

pytestmark = pytest.mark.connected

WORKS_UNTIL_TOLD = "while true; do sleep 0.05; done"


def run_with_a_service(
    folder: Path, are_done: Callable[[], bool], patience_seconds: float, script: str
) -> JobEnd:
    """A job that ends at once, with a service beside it."""
    config = LocalJobConfig(
        job=JobName("demo"),
        command=("/bin/true",),
        rules=MembershipRules(ranks=1, spares=0),
        run_folder=folder / "run",
        control_socket=folder / "control.sock",
        service_drain_seconds=0.0,
        service_patience_seconds=patience_seconds,
    )
    service = ServiceSpec(
        name="remediate",
        command=("/bin/sh", "-c", script),
        environment={"PATH": os.defpath},
        log_path=folder / "service.log",
    )
    job = LocalJob(config, lambda _event: None, services=[service], services_are_done=are_done)
    return job.run().end


def asking(answers: list[bool]) -> Callable[[], bool]:
    """Gives these answers in turn, and fails when it is asked once more."""
    return lambda: answers.pop(0)


def test_services_go_on_until_they_are_done(tmp_path: Path) -> None:
    answers = [False, False, True]
    assert run_with_a_service(tmp_path, asking(answers), 60.0, WORKS_UNTIL_TOLD) == "finished"
    assert answers == []


def test_services_that_are_never_done_are_ended_when_patience_is_over(tmp_path: Path) -> None:
    asked: list[int] = []

    def never() -> bool:
        asked.append(1)
        return False

    assert run_with_a_service(tmp_path, never, 0.5, WORKS_UNTIL_TOLD) == "finished"
    assert 2 <= len(asked) <= 5


def test_nobody_waits_for_services_that_have_ended_by_themselves(tmp_path: Path) -> None:
    (tmp_path / "asked").write_text("")

    def never() -> bool:
        (tmp_path / "asked").unlink()
        return False

    script = f"while [ -e {tmp_path}/asked ]; do sleep 0.02; done"
    assert run_with_a_service(tmp_path, never, 60.0, script) == "finished"


def test_a_stop_while_services_finish_ends_them_at_once(tmp_path: Path) -> None:
    asked: list[int] = []

    def interrupt() -> bool:
        asked.append(1)
        os.kill(os.getpid(), signal.SIGINT)
        return False

    assert run_with_a_service(tmp_path, interrupt, 60.0, WORKS_UNTIL_TOLD) == "finished"
    assert asked == [1]
