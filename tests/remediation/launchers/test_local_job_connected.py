"""Real child processes under a real supervisor: losses, ends, failures to start."""

from __future__ import annotations

import os
import signal
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.launchers.local.client import LocalLauncher
from paramedic.remediation.launchers.port import Effect, ReplaceRank

pytestmark = pytest.mark.connected

StartJob = Callable[..., Any]


def kill(job: Any, node: str) -> None:
    os.kill(job.process_ids()[node], signal.SIGKILL)


def test_a_job_runs_to_its_end_and_leaves_nothing(start_job: StartJob) -> None:
    job = start_job(environment={"WORKER_FINISHES_IN": "0"})
    assert job.wait() == 0
    assert job.states() == ["starting", "warming_up", "training", "finished"]
    assert job.result()["end"] == "finished"
    assert job.survivors() == []
    assert not job.control_socket.exists()


def test_a_killed_rank_is_replaced_by_the_spare(start_job: StartJob) -> None:
    job = start_job(environment={"WORKER_FINISHES_IN": "1"})
    job.wait_until(lambda: any(e.get("node") == "node-0003" for e in job.events()))
    job.wait_for_state("training")
    kill(job, "node-0001")
    assert job.wait() == 0
    (loss,) = [e for e in job.events() if e["kind"] == "process_exit" and not e["expected"]]
    assert (loss["node"], loss["rank"], loss["signal"]) == ("node-0001", 1, 9)
    (change,) = [e for e in job.events() if e.get("change") == "replaced_by"]
    assert (change["node"], change["by"], change["generation"]) == ("node-0001", "node-0003", 1)
    (resumed,) = [e for e in job.events() if e.get("state") == "training" and e["generation"]]
    assert (resumed["step"], resumed["steps_lost"]) == (11, 0)


def test_two_killed_at_once_are_replaced_with_one_spare(start_job: StartJob) -> None:
    job = start_job()
    job.wait_until(lambda: any(e.get("node") == "node-0003" for e in job.events()))
    job.wait_for_state("training")
    kill(job, "node-0000")
    kill(job, "node-0002")
    job.wait_for_state("training", times=2)
    placements = LocalLauncher(job.control_socket).observe(JobName("demo"))
    carriers = {p.rank: p.node for p in placements if p.rank is not None}
    assert sorted(carriers) == [0, 1, 2]
    assert carriers[1] == "node-0001"
    assert {carriers[0], carriers[2]} == {"node-0003", "node-0004"}


def test_a_killed_spare_is_replaced_and_no_rank_notices(start_job: StartJob) -> None:
    job = start_job()
    job.wait_for_state("training")
    job.wait_until(lambda: "node-0003" in job.process_ids())
    kill(job, "node-0003")
    job.wait_until(lambda: any(e.get("node") == "node-0004" for e in job.events()))
    assert "recovering" not in job.states()


def test_without_a_spare_a_new_worker_takes_the_rank(start_job: StartJob) -> None:
    job = start_job(spares=0, environment={"WORKER_FINISHES_IN": "1"})
    job.wait_for_state("training")
    kill(job, "node-0002")
    assert job.wait() == 0
    assert "node-0003" in job.process_ids()


def test_a_frozen_rank_is_replaced_even_if_its_generation_was_lost_meanwhile(
    start_job: StartJob,
) -> None:
    job = start_job()
    job.wait_for_state("training")
    os.kill(job.process_ids()["node-0001"], signal.SIGSTOP)
    kill(job, "node-0002")
    job.wait_for_state("recovering")
    request = ReplaceRank(JobName("demo"), NodeName("node-0001"), 0, "verdict", "hang")
    assert LocalLauncher(job.control_socket).apply(request).effect is Effect.APPLIED
    job.wait_for_state("training", times=2)
    (ended,) = [e for e in job.events() if e.get("expected")]
    assert (ended["node"], ended["signal"]) == ("node-0001", 9)


def test_strangers_on_the_control_socket_change_nothing(start_job: StartJob) -> None:
    job = start_job(ranks=2, spares=0)
    job.wait_for_state("training")
    lines = [
        b'{"type": "finished", "step": 1}',
        b'{"type": "hello", "node": "node-0077", "process_id": 1}',
        b'{"type": "hello", "node": "node-0001", "process_id": 1}',
        b"\x00\xff",
    ]
    for line in lines:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
            stranger.settimeout(10)
            stranger.connect(str(job.control_socket))
            stranger.sendall(line + b"\n")
            assert stranger.recv(1) == b""
    assert job.said().count("dropped") == len(lines)
    kill(job, "node-0001")
    job.wait_for_state("training", times=2)


def test_a_command_that_is_not_there_is_one_clear_line(start_job: StartJob) -> None:
    job = start_job(command=["no-such-program", "train.py"])
    assert job.wait() == 2
    assert job.said() == (
        "cannot start 'no-such-program train.py' in the current folder: "
        "No such file or directory: check that 'no-such-program' is a program on the PATH "
        "and may be executed\n"
    )
    assert job.survivors() == []


def test_a_command_that_may_not_be_executed_is_named(start_job: StartJob, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("")
    script.chmod(stat.S_IRUSR)
    job = start_job(command=[str(script)])
    assert job.wait() == 2
    assert "Permission denied" in job.said()


def test_a_command_that_fails_at_once_ends_the_job_with_its_code_and_last_words(
    start_job: StartJob,
) -> None:
    job = start_job(environment={"WORKER_EXITS_WITH": "5"})
    assert job.wait() == 5
    result = job.result()
    assert result["end"] == "failed"
    assert result["last_line"] == "this worker is broken"
    assert Path(result["log_path"]).read_text().endswith("this worker is broken\n")
    assert "Traceback" not in job.said()
    assert job.survivors() == []


def test_a_plain_script_runs_under_torchruns_variables(start_job: StartJob) -> None:
    program = "import os; print(os.environ['RANK'], os.environ['MASTER_PORT'])"
    job = start_job(ranks=2, command=[sys.executable, "-c", program])
    assert job.wait() == 0
    logs = [(job.folder / "logs" / f"node-000{rank}.log").read_text() for rank in range(2)]
    (rank_0, port_0), (rank_1, port_1) = (log.split() for log in logs)
    assert (rank_0, rank_1) == ("0", "1")
    assert port_0 == port_1


def test_a_plain_script_that_fails_late_is_started_anew(
    start_job: StartJob, tmp_path: Path
) -> None:
    marker = tmp_path / "failed-once"
    program = (
        "import os, pathlib, sys, time\n"
        f"marker = pathlib.Path({str(marker)!r})\n"
        "if marker.exists(): sys.exit(0)\n"
        "if os.environ['RANK'] == '0': time.sleep(60)\n"
        "marker.touch()\n"
        "sys.exit(7)\n"
    )
    job = start_job(ranks=2, command=[sys.executable, "-c", program], restart_after_seconds=0)
    assert job.wait() == 0
    told = [state for state in job.states() if state != "training"]  # it runs for long at once
    assert told == ["starting", "recovering", "starting", "finished"]


def test_processes_that_a_worker_leaves_behind_are_ended_with_it(
    start_job: StartJob,
) -> None:
    job = start_job(ranks=1, command=["sh", "-c", "sleep 300 & exit 3"])
    assert job.wait() == 3
    job.wait_until(lambda: job.survivors() == [])


def test_processes_that_fail_at_once_are_not_told_as_ended_by_the_launcher(
    start_job: StartJob, tmp_path: Path
) -> None:
    gate = tmp_path / "all-are-there"
    program = (
        "import os, pathlib, sys, time\n"
        f"gate = pathlib.Path({str(gate)!r})\n"
        "if os.environ['RANK'] == '0': gate.touch()\n"
        "while not gate.exists(): time.sleep(0.001)\n"
        "os._exit(1)\n"
    )
    job = start_job(ranks=2, command=[sys.executable, "-c", program])
    job.wait()
    for event in job.events():
        if event["kind"] == "process_exit":
            by_launcher = event.get("ended_by") == "launcher"
            assert by_launcher == ("signal" in event), event


def test_a_spare_that_is_stopped_is_replaced_and_never_assigned(start_job: StartJob) -> None:
    job = start_job(ranks=2, spares=1, ping_seconds=0.1, unanswered_pings=3)
    job.wait_until(lambda: any(e.get("node") == "node-0002" for e in job.events()))
    os.kill(job.process_ids()["node-0002"], signal.SIGSTOP)
    job.wait_until(lambda: any(e.get("node") == "node-0003" for e in job.events()))
    (left,) = [e for e in job.events() if e["kind"] == "process_exit"]
    assert (left["node"], left["ended_by"]) == ("node-0002", "launcher")
    assert left["reason"] == "has not answered for 0.3 s"
    assert "recovering" not in job.states()
