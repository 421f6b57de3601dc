"""`paramedic run` over a real Kafka-protocol broker, and when that broker dies."""

from __future__ import annotations

import json
import signal
import sys
import urllib.request
from collections.abc import Iterator

import pytest

from scenarios.case import Case, wait_until
from servers.kafka_broker import kafka_broker

pytestmark = [pytest.mark.connected, pytest.mark.timeout(300)]

SLEEPY = (sys.executable, "-c", "import time; time.sleep(60)")


@pytest.fixture(name="broker")
def _broker(case: Case) -> Iterator[str]:
    with kafka_broker(case.folder) as address:
        yield address


def jobs(api: str | None) -> str:
    try:
        with urllib.request.urlopen(f"{api}/v1/jobs", timeout=5) as answer:
            return json.dumps(json.load(answer))
    except OSError:
        return ""


def test_a_run_over_a_broker_that_is_there(case: Case, broker: str) -> None:
    process = case.start_job(
        "--nproc", "1", "--job", "overkafka", "--bus", f"kafka://{broker}", command=SLEEPY
    )
    api = case.record().api
    wait_until(lambda: "overkafka" in jobs(api), "the job was known through the broker")
    process.send_signal(signal.SIGINT)
    assert case.finish(process).code == 130


def test_a_run_that_starts_the_development_broker_ends_it_too(case: Case) -> None:
    process = case.start_job("--nproc", "1", "--job", "owned", "--bus", "kafka", command=SLEEPY)
    api = case.record().api
    wait_until(lambda: "owned" in jobs(api), "the job was known through the broker")
    process.send_signal(signal.SIGINT)
    assert case.finish(process).code == 130


def test_the_development_broker_does_not_outlive_a_run_that_is_killed(case: Case) -> None:
    process = case.start_job("--nproc", "1", "--bus", "kafka", command=SLEEPY)
    wait_until(lambda: bool(case.processes("storage-engine")), "the broker ran")
    case.record()
    process.kill()
    case.finish(process)


def test_a_job_ends_well_although_its_broker_has_died(case: Case) -> None:
    source = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.1)"
    with kafka_broker(case.folder) as broker:
        process = case.start_job(
            "--nproc", "1", "--bus", f"kafka://{broker}", command=(sys.executable, "-c", source)
        )
        wait_until(lambda: len(case.processes("go")) >= 2, "the rank ran beside the supervisor")
    (case.folder / "go").touch()
    done = case.finish(process)
    assert done.code == 0
    assert "Traceback" not in done.errors
