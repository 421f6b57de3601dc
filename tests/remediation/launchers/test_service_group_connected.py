"""Services without a job: started again when they end, and gone after a signal."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from paramedic.remediation.launchers.local.back_off import BackOffRule
from paramedic.remediation.launchers.local.service_group import ServiceGroup
from paramedic.remediation.launchers.local.service_keeper import ServiceSpec
from paramedic.remediation.launchers.port import LauncherSetupError

pytestmark = pytest.mark.connected

LISTENS = "trap 'exit 0' TERM; while true; do sleep 0.05; done"
DEAF = "trap '' TERM; while true; do sleep 0.05; done"


def spec(folder: Path, script: str, name: str = "one") -> ServiceSpec:
    return ServiceSpec(
        name=name,
        command=("/bin/sh", "-c", script),
        environment={"PATH": os.defpath},
        log_path=folder / f"{name}.log",
        back_off=BackOffRule(first_seconds=0.05),
    )


def lines(path: Path) -> int:
    return path.read_text().count("\n") if path.exists() else 0


def end_when(group: ServiceGroup, path: Path, count: int, *numbers: signal.Signals) -> int:
    """A descriptor that is always readable: looks, and sends signals when the file is that long."""
    read_end, write_end = os.pipe()
    os.write(write_end, b"x")
    waiting = list(numbers)

    def look() -> None:
        time.sleep(0.01)
        if waiting and lines(path) >= count:
            os.kill(os.getpid(), waiting.pop(0))

    group.watch(read_end, look)
    return read_end


def test_a_service_that_ends_is_started_again_until_a_signal_ends_the_group(
    tmp_path: Path,
) -> None:
    group = ServiceGroup([spec(tmp_path, "echo started; exit 1"), spec(tmp_path, LISTENS, "two")])
    end_when(group, tmp_path / "one.log", 3, signal.SIGINT)
    assert group.run() is signal.SIGINT
    assert lines(tmp_path / "one.log") >= 3


def test_a_service_that_does_not_listen_is_killed_after_the_grace(tmp_path: Path) -> None:
    group = ServiceGroup([spec(tmp_path, f"echo up; {DEAF}")], grace_seconds=0.3)
    end_when(group, tmp_path / "one.log", 1, signal.SIGTERM)
    began = time.monotonic()
    assert group.run() is signal.SIGTERM
    assert time.monotonic() - began < 20


def test_a_second_signal_ends_the_wait(tmp_path: Path) -> None:
    group = ServiceGroup([spec(tmp_path, f"echo up; {DEAF}")], grace_seconds=600)
    end_when(group, tmp_path / "one.log", 1, signal.SIGINT, signal.SIGINT)
    assert group.run() is signal.SIGINT


def test_a_service_that_cannot_be_executed_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    wrong = ServiceSpec(
        name="wrong", command=("/nonexistent",), environment={}, log_path=tmp_path / "wrong.log"
    )
    with pytest.raises(LauncherSetupError, match="/nonexistent"):
        ServiceGroup([spec(tmp_path, LISTENS), wrong]).run()
