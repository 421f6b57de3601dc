"""Back-off, exit status, log tail, step count and the environment of a worker."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.launchers.local.back_off import BackOff, BackOffRule
from paramedic.remediation.launchers.local.commands import MembershipRules
from paramedic.remediation.launchers.local.exit_status import ExitStatus
from paramedic.remediation.launchers.local.job_config import LocalJobConfig
from paramedic.remediation.launchers.local.log_tail import blames_a_peer, last_line
from paramedic.remediation.launchers.local.step_count import StepCount
from paramedic.remediation.launchers.local.worker_environment import worker_environment
from paramedic.remediation.launchers.port import LauncherSetupError

NODE = NodeName("node-0001")


def test_delays_double_up_to_the_longest() -> None:
    back_off = BackOff(BackOffRule())
    delays = [back_off.delay_after(1.0) for _ in range(7)]
    assert delays == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_a_long_life_forgets_the_short_ones() -> None:
    back_off = BackOff(BackOffRule())
    assert [back_off.delay_after(lived) for lived in (1, 1, 60, 1)] == [0.5, 1.0, 0.5, 1.0]


@given(st.lists(st.floats(0, 1000)))
def test_a_delay_is_never_outside_its_bounds(lives: list[float]) -> None:
    back_off = BackOff(BackOffRule(first_seconds=0.5, longest_seconds=10))
    assert all(0.5 <= back_off.delay_after(lived) <= 10 for lived in lives)


def test_impossible_delays_are_refused() -> None:
    with pytest.raises(ValueError, match="longest"):
        BackOffRule(first_seconds=11)


@pytest.mark.parametrize(
    ("return_code", "status", "shell_code", "text"),
    [
        (0, ExitStatus(exit_code=0), 0, "exited with 0"),
        (3, ExitStatus(exit_code=3), 3, "exited with 3"),
        (-9, ExitStatus(signal=9), 137, "was ended by SIGKILL"),
        (-signal.SIGRTMIN - 1, ExitStatus(signal=35), 163, "was ended by signal 35"),
    ],
)
def test_an_exit_is_told_as_shells_and_people_know_it(
    return_code: int, status: ExitStatus, shell_code: int, text: str
) -> None:
    assert ExitStatus.of_return_code(return_code) == status
    assert status.shell_code == shell_code
    assert str(status) == text
    assert status.is_success == (return_code == 0)


def test_an_exit_has_a_code_or_a_signal() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        ExitStatus()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", None),
        (b"\n \n", None),
        (b"first\nlast\n\n  \n", "last"),
        (b"no end", "no end"),
        (b"x" * 100_000 + b"\nValueError: bad \xff\n", "ValueError: bad \ufffd"),
        (b"y" * 1000, "y" * 500),
    ],
)
def test_the_last_line_that_is_not_blank_is_found(
    tmp_path: Path, content: bytes, line: str | None
) -> None:
    log = tmp_path / "node-0001.log"
    log.write_bytes(content)
    assert last_line(log) == line


def test_a_log_that_was_never_written_has_no_last_line(tmp_path: Path) -> None:
    assert last_line(tmp_path / "absent.log") is None


def test_no_step_is_lost_when_the_next_one_follows() -> None:
    steps = StepCount()
    steps.committed(0, 1)
    steps.saw(10)
    steps.start_generation()
    steps.committed(0, 11)
    assert steps.steps_lost == 0


def test_the_lowest_rank_says_where_a_generation_resumed() -> None:
    steps = StepCount()
    steps.saw(10)
    steps.start_generation()
    assert steps.committed(0, 9) == 1
    assert steps.committed(1, 8) == 2
    assert steps.committed(1, 10) == 2
    assert (steps.first_step, steps.steps_lost) == (8, 3)


def config(ranks: int = 4, **base: str) -> LocalJobConfig:
    return LocalJobConfig(
        job=JobName("demo"),
        command=("python", "train.py"),
        rules=MembershipRules(ranks=ranks),
        run_folder=Path("/r"),
        control_socket=Path("/s/control.sock"),
        telemetry_socket=Path("/s/telemetry.sock"),
        checkpoint_interval_seconds=30.0,
        base_environment=base,
    )


def test_a_rank_is_told_what_torchrun_would_tell_it() -> None:
    told = worker_environment(config(), NODE, rank=1, master_port=29500)
    assert told == {
        "RANK": "1",
        "WORLD_SIZE": "4",
        "LOCAL_RANK": "1",
        "LOCAL_WORLD_SIZE": "4",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "29500",
        "OMP_NUM_THREADS": "1",
        "PARAMEDIC_JOB": "demo",
        "PARAMEDIC_NODE": "node-0001",
        "PARAMEDIC_CONTROL_SOCKET": "/s/control.sock",
        "PARAMEDIC_TELEMETRY_SOCKET": "/s/telemetry.sock",
        "PARAMEDIC_CHECKPOINT_FOLDER": "/r/checkpoints",
        "PARAMEDIC_CHECKPOINT_INTERVAL_SECONDS": "30",
    }


def test_a_spare_is_told_no_rank_even_if_one_was_inherited() -> None:
    told = worker_environment(config(RANK="7", WORLD_SIZE="9", PATH="/bin"), NODE, None, 1)
    assert "RANK" not in told
    assert "WORLD_SIZE" not in told
    assert told["PATH"] == "/bin"


def test_the_users_own_thread_count_is_kept() -> None:
    told = worker_environment(config(OMP_NUM_THREADS="8"), NODE, 0, 1)
    assert told["OMP_NUM_THREADS"] == "8"
    assert "OMP_NUM_THREADS" not in worker_environment(config(ranks=1), NODE, 0, 1)


def test_a_job_without_an_agent_has_no_telemetry_socket() -> None:
    told = worker_environment(replace(config(), telemetry_socket=None), NODE, 0, 1)
    assert "PARAMEDIC_TELEMETRY_SOCKET" not in told


@pytest.mark.parametrize("command", [(), ("",)])
def test_a_job_without_a_command_is_refused(command: tuple[str, ...]) -> None:
    with pytest.raises(LauncherSetupError, match="say what to run"):
        replace(config(), command=command)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("ranks", 0),
        ("spares", -1),
        ("max_recoveries_without_progress", -1),
        ("ready_timeout_seconds", 0),
    ],
)
def test_rules_that_cannot_be_are_refused_by_name(setting: str, value: int) -> None:
    given: dict[str, Any] = {"ranks": 2, setting: value}
    with pytest.raises(ValueError, match=f"^{setting}: {value}"):
        MembershipRules(**given)


@pytest.mark.parametrize(
    ("line", "blames"),
    [
        (None, False),
        ("ValueError: a bad batch", False),
        ("RuntimeError: [../third_party/gloo/pair.cc:547] Connection closed by peer", True),
        ("torch.distributed.DistBackendError: NCCL communicator was aborted", True),
    ],
)
def test_last_words_about_a_broken_connection_blame_a_peer(line: str | None, blames: bool) -> None:
    assert blames_a_peer(line) is blames
