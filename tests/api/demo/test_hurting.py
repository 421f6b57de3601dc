"""The rank to hit is chosen fairly, and is always let go at the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from paramedic.api.demo.errors import DemoRunError
from paramedic.api.demo.hurting import Target, choose_target, describe_injection, hurting
from paramedic.api.demo.request import InjectedFault
from paramedic.ingest.contract import NodeName
from paramedic.remediation.launchers.port import Placement

PLACEMENTS = [
    *(Placement(NodeName(f"node-000{rank}"), rank, 100 + rank, 0) for rank in range(4)),
    Placement(NodeName("node-0004"), None, 104, 0),
]


@pytest.fixture(name="victim")
def _victim() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait(10)


@pytest.fixture(name="worker")
def _worker() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield process
    process.kill()
    process.wait(10)


def state_of(process: subprocess.Popen[bytes]) -> str:
    """`T` for stopped, from /proc/PID/stat."""
    with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:  # noqa: PTH123
        return file.read().rpartition(")")[2].split()[0]


def target(process: subprocess.Popen[bytes]) -> Target:
    return Target(rank=2, node="node-0002", process_id=process.pid, generation=0)


def test_a_rank_that_was_asked_for_is_taken() -> None:
    assert choose_target(PLACEMENTS, 3, random.Random(0)).process_id == 103


def test_any_rank_may_be_hit_and_never_a_spare() -> None:
    chance = random.Random(0)
    assert {choose_target(PLACEMENTS, None, chance).rank for _ in range(100)} == {0, 1, 2, 3}


def test_the_same_seed_hits_the_same_rank() -> None:
    chosen = [choose_target(PLACEMENTS, None, random.Random(7)) for _ in range(2)]
    assert chosen[0] == chosen[1]


def test_a_rank_without_a_process_cannot_be_hit() -> None:
    with pytest.raises(DemoRunError, match="rank 9"):
        choose_target(PLACEMENTS, 9, random.Random(0))


def test_the_line_says_that_the_system_is_not_told(victim: subprocess.Popen[bytes]) -> None:
    text = describe_injection(InjectedFault.FREEZE, target(victim))
    assert "SIGSTOP to rank 2 on node-0002" in text
    assert "not told" in text


def test_kill_ends_the_process_at_the_injection(victim: subprocess.Popen[bytes]) -> None:
    with hurting(InjectedFault.KILL, target(victim), lambda: 5.0) as injection:
        assert victim.wait(10) == -signal.SIGKILL
    assert (injection.at_seconds, injection.rank, injection.node) == (5.0, 2, "node-0002")


def test_freeze_stops_the_process_until_the_end(victim: subprocess.Popen[bytes]) -> None:
    with hurting(InjectedFault.FREEZE, target(victim)):
        os.waitid(os.P_PID, victim.pid, os.WSTOPPED | os.WNOWAIT)
        assert state_of(victim) == "T"
    os.waitid(os.P_PID, victim.pid, os.WCONTINUED | os.WNOWAIT)
    assert state_of(victim) != "T"


def test_slow_leaves_the_process_running_at_the_end(worker: subprocess.Popen[bytes]) -> None:
    with hurting(InjectedFault.SLOW, target(worker), baseline_seconds=0.05):
        os.waitid(os.P_PID, worker.pid, os.WSTOPPED | os.WNOWAIT)
    assert state_of(worker) != "T"


def test_a_process_that_is_gone_cannot_be_hit(victim: subprocess.Popen[bytes]) -> None:
    victim.kill()
    victim.wait(10)
    with (
        pytest.raises(DemoRunError, match="ended before"),
        hurting(InjectedFault.KILL, target(victim)),
    ):
        pass
