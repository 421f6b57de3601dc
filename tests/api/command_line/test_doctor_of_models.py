"""What doctor says of the pattern model: how it fits a page, and what of recordings drifted."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from ingest.recordings.recorded import Row, describe, gpu_row, write_rows
from models.registry.models_of_ours import AT, artifact_of, manifest_of
from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.models.pattern.artifact import PatternArtifact
from paramedic.models.pattern.network import PatternNetwork
from paramedic.models.pattern.settings import PatternSettings
from paramedic.models.pattern.surprise import weights_of
from paramedic.models.registry.model_folder import save
from paramedic.models.registry.registry import Registry

PAGE = 'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="a",Hostname="n1",hpc_job="llama"} 412\n'
NODES = ("a", "b", "c", "d", "e", "f")


def told(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = dispatch(["doctor", *arguments], Surroundings(folder, {}, out, err))
    return code, out.getvalue(), err.getvalue()


def promoted(folder: Path, *metrics: str) -> None:
    registry = Registry(folder / "paramedic-models")
    registry.promote(registry.add(artifact_of(metrics=metrics), manifest_of(), AT), AT)


def test_metrics_of_the_model_in_production_that_do_not_arrive_are_a_warning(
    tmp_path: Path,
) -> None:
    (tmp_path / "page").write_text(PAGE)
    promoted(tmp_path, "gpu_power_watts", "gpu_tensor_active_ratio", "step_seconds")
    _, _, errors = told(tmp_path, "page")
    (line,) = [one for one in errors.splitlines() if "pattern model: " in one]
    assert line.startswith("warning  pattern model: the model was trained on 2 metrics, and 1 of")
    assert "(gpu_tensor_active_ratio)" in line


def test_a_model_that_fits_is_said_to(tmp_path: Path) -> None:
    (tmp_path / "page").write_text(PAGE)
    promoted(tmp_path, "gpu_power_watts")
    _, output, _ = told(tmp_path, "page", "--format", "json")
    checks = {one["subject"]: one for one in json.loads(output)["checks"]}
    assert checks["pattern model"]["text"] == "all 1 metric that it was trained on arrive"
    assert checks["pattern model"]["level"] == "ok"


def test_a_damaged_registry_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "page").write_text(PAGE)
    promoted(tmp_path, "gpu_power_watts")
    (Registry(tmp_path / "paramedic-models").folder_of(1) / "model.safetensors").unlink()
    code, _, errors = told(tmp_path, "page")
    assert (code, errors.count("\n")) == (2, 1)
    assert "model.safetensors: No such file" in errors


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of six alike GPUs, a model that expects it, and one that expects other things."""
    folder = tmp_path_factory.mktemp("drift")
    noise = np.random.default_rng(0).normal(400, 5, (90, len(NODES)))
    rows: list[Row] = [
        gpu_row(second, node, power=float(noise[second, at]))
        for second in range(len(noise))
        for at, node in enumerate(NODES)
    ]
    write_rows(describe(folder / "r", NODES), "gpu", rows)
    for name, middle in (("alike", 0.0), ("other", 6.0)):
        save(folder / name, model(middle), manifest_of(name))
    return folder


def model(middle: float) -> PatternArtifact:
    settings = PatternSettings()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        weights = weights_of(PatternNetwork(settings))
    told = {"input_q95": middle}
    metrics = ("gpu_power_watts",)
    return PatternArtifact(settings.as_mapping(), weights, metrics, {metrics[0]: told})


def test_recordings_like_training_have_not_drifted(place: Path) -> None:
    code, output, errors = told(place, "--recording", "r", "--model", "alike")
    assert (code, output) == (0, "")
    lines = errors.splitlines()
    assert lines[1] == f"90 s against alike, made {AT}"
    assert lines[2] == "nothing has drifted, of 1 distribution"


def test_drift_is_a_document_for_scripts(place: Path) -> None:
    code, output, _ = told(place, "--recording", "r", "--model", "other", "--format", "json")
    summary = json.loads(output)["summary"]
    assert (code, summary["model"]) == (0, {"name": "other", "version": None})
    (drift,) = summary["drift"]
    assert (drift["metric"], drift["quantity"], drift["samples"]) == ("gpu_power_watts", "input", 6)
    assert (summary["missing"], summary["new"]) == ([], [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--recording", "r", "--storage", "x"], "name either sources, or one page, or --storage"),
        (["page", "--model", "1"], "--model goes with --recording"),
        (["--recording", "nowhere", "--model", "alike"], "nowhere: no such folder"),
        (["--recording", "r", "--model", "7"], "version 7: there is no such version"),
    ],
)
def test_a_mistake_is_one_line(place: Path, arguments: list[str], words: str) -> None:
    code, output, errors = told(place, *arguments)
    assert (code, output) == (2, "")
    assert words in errors.splitlines()[-1]
