"""Ctrl-C, SIGTERM and SIGKILL of the supervisor at any moment; services that are killed."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.connected

StartJob = Callable[..., Any]
SERVICE = [sys.executable, "-c", "import time; time.sleep(300)"]


def moments() -> list[Any]:
    return [
        pytest.param(lambda job: "started" in said_or_exists(job), id="sockets"),
        pytest.param(lambda job: "node-0000" in job.process_ids(), id="first worker"),
        pytest.param(lambda job: "node-0002" in job.process_ids(), id="all workers"),
        pytest.param(lambda job: "warming_up" in job.states(), id="assigned"),
        pytest.param(lambda job: "training" in job.states(), id="training"),
        pytest.param(lambda job: "node-0003" in job.process_ids(), id="spare"),
    ]


def said_or_exists(job: Any) -> str:
    return "started" if job.control_socket.exists() else ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("has_come", moments())
def test_a_stop_at_any_moment_leaves_no_process_and_no_traceback(
    start_job: StartJob, has_come: Callable[[Any], bool], number: signal.Signals
) -> None:
    job = start_job(services={"diagnose": SERVICE})
    job.wait_until(lambda: has_come(job))
    job.process.send_signal(number)
    assert job.wait() == 128 + number
    assert job.survivors() == []
    assert "Traceback" not in job.said()
    assert job.result()["reason"] == f"stopped by {number.name}"
    assert not job.control_socket.exists()


def test_workers_that_ignore_the_request_are_killed_after_the_grace(start_job: StartJob) -> None:
    job = start_job(spares=0, environment={"WORKER_IS_DEAF": "1"}, stop_grace_seconds=0.3)
    job.wait_for_state("training")
    job.process.send_signal(signal.SIGINT)
    assert job.wait() == 130
    exits = [e for e in job.events() if e["kind"] == "process_exit"]
    assert {e["signal"] for e in exits} == {9}
    assert all(e["expected"] for e in exits)
    assert job.survivors() == []


def test_a_second_ctrl_c_does_not_wait_for_the_grace(start_job: StartJob) -> None:
    job = start_job(environment={"WORKER_IS_DEAF": "1"}, stop_grace_seconds=300)
    job.wait_for_state("training")
    job.process.send_signal(signal.SIGINT)
    time.sleep(0.2)  # two signals of one kind that are pending together are one signal
    job.process.send_signal(signal.SIGINT)
    assert job.wait() == 130
    assert job.survivors() == []


def test_a_supervisor_killed_with_sigkill_takes_everybody_along(start_job: StartJob) -> None:
    job = start_job(services={"diagnose": SERVICE})
    job.wait_for_state("training")
    job.process.kill()
    job.wait()
    job.wait_until(lambda: job.survivors() == [])


def test_a_killed_service_comes_back_and_touches_no_rank(start_job: StartJob) -> None:
    job = start_job(services={"diagnose": SERVICE, "remediate": SERVICE})
    job.wait_for_state("training")
    before = job.process_ids()
    os.kill(before["diagnose"], signal.SIGKILL)
    job.wait_until(lambda: job.process_ids()["diagnose"] != before["diagnose"])
    assert job.process_ids()["remediate"] == before["remediate"]
    assert not [e for e in job.events() if e["kind"] == "process_exit"]
    assert job.states()[-1] == "training"


def test_services_outlive_the_job_by_the_drain_and_end_with_it(start_job: StartJob) -> None:
    job = start_job(services={"diagnose": SERVICE}, environment={"WORKER_FINISHES_IN": "0"})
    assert job.wait() == 0
    assert job.survivors() == []


def test_a_service_that_is_not_there_is_one_clear_line(start_job: StartJob) -> None:
    job = start_job(services={"diagnose": ["no-such-service"]})
    assert job.wait() == 2
    assert "cannot start 'no-such-service'" in job.said().splitlines()[-1]
    assert job.survivors() == []
