"""Processes that change one registry at once, and one that is killed while it does."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from models.registry.models_of_ours import artifact_of, manifest_of
from paramedic.models.registry.model_folder import save
from paramedic.models.registry.registry import Registry
from paramedic.models.registry.stages import Stage, Step

pytestmark = pytest.mark.connected
PROMOTE = (sys.executable, "-m", "paramedic.api.command_line", "models", "promote")


def started(folder: Path, number: int) -> list[subprocess.Popen[bytes]]:
    for seed in range(number):
        save(folder / f"m{seed}", artifact_of(seed), manifest_of(f"m{seed}"))
    return [
        subprocess.Popen(
            [*PROMOTE, f"m{seed}"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for seed in range(number)
    ]


def test_processes_promote_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    processes = started(tmp_path, 4)
    assert [one.wait(60) for one in processes] == [0] * 4
    registry = Registry(tmp_path / "paramedic-models")
    stages = [one.stage for one in registry.versions()]
    assert (len(stages), stages.count(Stage.PRODUCTION)) == (4, 1)
    steps = [entry.step for entry in registry.record().entries]
    assert steps.count(Step.PROMOTE) == 4


def test_whoever_is_killed_leaves_a_registry_that_others_can_use(tmp_path: Path) -> None:
    first, *others = started(tmp_path, 3)
    root = tmp_path / "paramedic-models"
    while first.poll() is None and not (root / "lock").exists():
        with suppress(subprocess.TimeoutExpired):
            first.wait(0.01)
    first.kill()
    first.wait(60)
    assert [one.wait(60) for one in others] == [0, 0]
    stages = [one.stage for one in Registry(root).versions()]
    assert stages.count(Stage.PRODUCTION) == 1
    assert len(stages) in (2, 3)
