"""Real trainings in processes of their own: one seed one model, and a killed one goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paramedic.models.default.shipped import shipped_model
from paramedic.models.histories.recorded import history_of
from paramedic.models.pattern.detector import PatternDetector
from paramedic.models.registry.following import Adopted, ProductionFollower
from paramedic.models.registry.model_folder import load
from paramedic.models.registry.registry import Registry

pytestmark = pytest.mark.connected
COMMAND = (sys.executable, "-m", "paramedic.api.command_line")
RECORD = ("simulate", "--nodes", "4", "--gpus", "1", "--stages", "1", "--seconds", "150")


def ran(folder: Path, *arguments: str) -> str:
    """Standard output of a call that ended well."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def stopped(folder: Path, number: int, *arguments: str) -> int:
    """The exit code of a training that got a signal after its first epoch."""
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        try:
            for line in process.stderr:
                said.write(line)
                if b"training: " in line:
                    process.send_signal(number)
            return process.wait(60)
        finally:
            process.kill()
            process.stderr.close()
            process.wait()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording, and a model that was trained on it without a break."""
    folder = tmp_path_factory.mktemp("trainings")
    ran(folder, *RECORD, "--record", "r")
    ran(folder, *train("whole"), "--logs", "logs")
    return folder


def train(out: str) -> tuple[str, ...]:
    return ("train", "r", "--out", out, "--epochs", "3", "--name", "one")


def test_a_training_keeps_lightnings_log(place: Path) -> None:
    (metrics,) = (place / "logs").rglob("metrics.csv")
    assert "held_out_loss" in metrics.read_text().splitlines()[0]


def test_two_trainings_with_one_seed_are_one_model(place: Path) -> None:
    told = json.loads(ran(place, *train("again")))
    assert told["tensors_sha256"] == load(place / "whole")[1].tensors_sha256


def test_a_training_that_was_killed_goes_on_to_the_same_model(place: Path) -> None:
    assert stopped(place, signal.SIGKILL, *train("killed")) == -signal.SIGKILL
    assert not (place / "killed").exists()
    told = json.loads(ran(place, *train("killed"), "--resume"))
    assert told["tensors_sha256"] == load(place / "whole")[1].tensors_sha256
    assert not (place / "killed.training").exists()


def test_ctrl_c_ends_a_training_with_130_and_it_can_go_on(place: Path) -> None:
    assert stopped(place, signal.SIGINT, *train("ended")) == 130
    assert (place / "ended.training" / "training.json").exists()


def test_a_trained_model_is_promoted_followed_and_sees_no_drift_in_its_own_past(
    place: Path,
) -> None:
    assert json.loads(ran(place, "models", "promote", "whole", "--format", "json"))["version"] == 1
    follower = ProductionFollower(Registry(place / "paramedic-models"), shipped_model)
    (adopted,) = follower.look(0)
    assert isinstance(adopted, Adopted)
    assert (
        PatternDetector(adopted.model.artifact).examine(history_of(place / "r")).alarms(5000) == []
    )
    summary = json.loads(ran(place, "doctor", "--recording", "r", "--format", "json"))["summary"]
    assert summary["model"] == {"name": "one", "version": 1}
    assert (summary["missing"], summary["new"]) == ([], [])
    assert not any(one["drifted"] for one in summary["drift"])
