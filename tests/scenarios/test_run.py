"""`paramedic run` with tiny jobs: how it succeeds, how it refuses, and what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paramedic.api.wiring.run_folder import DATABASE_FILE
from paramedic.api.wiring.stored_job import stored_job
from scenarios.case import Case, wait_until

pytestmark = pytest.mark.connected

SLEEPY = (sys.executable, "-c", "import time; time.sleep(60)")


def python(source: str) -> tuple[str, ...]:
    return (sys.executable, "-c", source)


@contextmanager
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def free_port() -> int:
    with taken_port() as port:
        return port


def test_a_job_that_ends_before_remediation_is_up_leaves_a_record_logs_and_a_database(
    case: Case,
) -> None:
    done = case.run_job("--nproc", "2", "--job", "tiny", command=python("print('hello')"))
    assert (done.code, done.out) == (0, "")
    assert done.lines[-1] == "paramedic: job tiny finished"
    assert (case.run_folder / "logs" / "node-0000.log").read_text() == "hello\n"
    assert case.record().command[0] == sys.executable
    stored = stored_job(case.run_folder, "tiny")
    assert stored is not None
    assert stored.state == "finished"
    assert stored.ended_at is not None


def test_a_run_whose_remediation_cannot_work_says_that_the_database_is_not_complete(
    case: Case,
) -> None:
    process = case.start_job("--nproc", "1", command=python("pass"))
    case.record()
    (case.run_folder / DATABASE_FILE).mkdir()
    done = case.finish(process)
    assert done.code == 0
    assert "remediation has not stored the end of the job" in done.lines[-2]
    assert str(case.run_folder / "logs" / "remediate.log") in done.lines[-2]


def test_a_bare_job_needs_no_platform_and_no_port(case: Case) -> None:
    with taken_port() as port:
        done = case.run(
            "run", "--bare", "--port", str(port), "--nproc", "1", "--run-folder",
            str(case.run_folder), "--", *python("print('hello')"),
        )  # fmt: skip
    assert done.code == 0
    assert case.record().api is None
    assert not (case.run_folder / "paramedic.sqlite").exists()


def test_a_job_that_fails_at_once_is_told_with_its_last_words_and_its_code(case: Case) -> None:
    done = case.run_job("--nproc", "2", command=python("print('no data'); raise SystemExit(7)"))
    assert done.code == 7
    assert "last line: no data" in done.lines[-1]
    assert str(case.run_folder / "logs") in done.lines[-1]
    assert "Traceback" not in done.errors


def test_a_job_that_is_ended_by_a_signal_passes_it_on(case: Case) -> None:
    source = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert case.run_job("--nproc", "1", command=python(source)).code == 128 + signal.SIGKILL


@pytest.mark.parametrize(
    ("flags", "command", "words"),
    [
        (("--bare",), ("nothere",), "command not found: nothere"),
        ((), ("./nothere.sh",), "command not found: ./nothere.sh"),
        (("--bus", "kafka://127.0.0.1:{free}"), SLEEPY, "no Kafka broker"),
        (("--port", "{taken}"), SLEEPY, "port {taken}"),
        (("--host", "0.0.0.0"), SLEEPY, "keys"),
        (("--set", "job.ranks=0"), SLEEPY, "job.ranks = 0"),
    ],
)
def test_what_cannot_work_is_one_line_and_nothing_is_started(
    case: Case, flags: tuple[str, ...], command: tuple[str, ...], words: str
) -> None:
    with taken_port() as taken:
        ports = {"taken": str(taken), "free": str(free_port())}
        given = [flag.format_map(ports) for flag in flags]
        done = case.run_job(*given, command=command)
    assert (done.code, done.out, len(done.lines)) == (2, "", 1)
    assert words.format_map(ports) in done.errors
    assert not case.run_folder.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["starting", "recorded", "running"])
def test_a_signal_at_any_moment_leaves_no_process_and_no_traceback(
    case: Case, moment: str, number: signal.Signals
) -> None:
    process = case.start_job("--nproc", "2", command=SLEEPY)
    if moment == "starting":
        wait_until(lambda: _has_imported_ours(process.pid), "our own code was imported")
    if moment == "recorded":
        case.record()
    if moment == "running":
        wait_until(lambda: len(case.processes("time.sleep(60)")) >= 3, "two ranks ran")
    process.send_signal(number)
    done = case.finish(process)
    assert done.code == 128 + number
    assert "Traceback" not in done.errors
    assert done.out == ""


def _has_imported_ours(process_id: int) -> bool:
    """SIGTERM is handled from the first lines of ours on (bit 15 of SigCgt in /proc)."""
    status = Path(f"/proc/{process_id}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def test_a_run_that_is_killed_takes_everything_with_it_and_the_next_tidies_up(case: Case) -> None:
    process = case.start_job("--nproc", "2", command=SLEEPY)
    wait_until(lambda: len(case.processes("time.sleep(60)")) >= 3, "two ranks ran")
    process.kill()
    case.finish(process)
    sockets = Path(case.record().control_socket).parent
    assert sockets.is_dir()
    case.run("run", "--bare", "--nproc", "1", "--", "true")
    assert not sockets.exists()


@pytest.mark.parametrize("service", ["diagnose", "remediate"])
def test_a_service_that_is_killed_comes_back_and_no_rank_is_touched(
    case: Case, service: str
) -> None:
    process = case.start_job("--nproc", "2", command=SLEEPY)
    api = case.record().api
    wait_until(lambda: _answers(f"{api}/healthz"), "the API answered")
    wait_until(lambda: bool(case.processes(f"command_line {service}")), "the service ran")
    ranks = set(case.processes("time.sleep(60)")) - {process.pid}
    (before,) = case.processes(f"command_line {service}")
    os.kill(before, signal.SIGKILL)
    wait_until(
        lambda: bool(set(case.processes(f"command_line {service}")) - {before}),
        "the service came back",
    )
    wait_until(lambda: _answers(f"{api}/healthz"), "the API answered again")
    assert set(case.processes("time.sleep(60)")) - {process.pid} == ranks
    process.send_signal(signal.SIGINT)
    assert case.finish(process).code == 130


def test_the_api_answers_while_the_job_runs_and_serve_answers_afterwards(case: Case) -> None:
    process = case.start_job("--nproc", "1", "--job", "tiny", command=SLEEPY)
    api = case.record().api
    wait_until(lambda: "tiny" in _names(f"{api}/v1/jobs"), "the job was known")
    process.send_signal(signal.SIGINT)
    case.finish(process)
    port = free_port()
    server = case.start("serve", "--run-folder", str(case.run_folder), "--port", str(port))
    address = f"http://127.0.0.1:{port}"
    wait_until(lambda: "tiny" in _names(f"{address}/v1/jobs"), "the database was served")
    server.send_signal(signal.SIGTERM)
    done = case.finish(server)
    assert done.code == 0
    assert "Traceback" not in done.errors


def _get(url: str) -> Any:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)
    except OSError:
        return None


def _answers(url: str) -> bool:
    return _get(url) is not None


def _names(url: str) -> str:
    return json.dumps(_get(url))
