"""`paramedic models` as it is called: what it prints, changes and refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from models.registry.models_of_ours import artifact_of, manifest_of
from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.models.registry.model_folder import save
from paramedic.models.registry.registry import Registry


def called(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = dispatch(["models", *arguments], Surroundings(folder, {}, out, err))
    return code, out.getvalue(), err.getvalue()


def told(folder: Path, *arguments: str) -> Any:
    """What a call says for scripts, and nothing else."""
    code, output, errors = called(folder, *arguments, "--format", "json")
    assert (code, errors) == (0, "")
    assert output.count("\n") == 1
    return json.loads(output)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with two trained models and no registry."""
    for seed, name in enumerate(("a", "b")):
        save(tmp_path / name, artifact_of(seed), manifest_of(name))
    return tmp_path


def damage(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"x")


def test_a_registry_of_nothing_says_which_model_is_in_use(place: Path) -> None:
    code, output, errors = called(place, "list")
    assert (code, output) == (0, "")
    where = place / "paramedic-models"
    assert errors.startswith(f"there is no registry yet at {where}: the model that ships")
    assert told(place, "list") == {"production": None, "models": []}


def test_a_folder_is_added_promoted_and_rolled_back(place: Path) -> None:
    assert told(place, "add", "a") == {"version": 1, "before": None, "production": None}
    assert told(place, "promote", "1") == {"version": 1, "before": None, "production": 1}
    assert told(place, "promote", "b") == {"version": 2, "before": 1, "production": 2}
    assert told(place, "rollback") == {"version": 1, "before": 2, "production": 1}
    assert told(place, "rollback") == {"version": None, "before": 1, "production": None}


def test_what_was_done_is_said_to_people(place: Path) -> None:
    said = [
        called(place, *words)[2]
        for words in (["add", "a"], ["promote", "1"], ["promote", "b"], ["rollback"], ["rollback"])
    ]
    was = "(paramedic models rollback)"
    assert [line.removeprefix("paramedic: ").removesuffix("\n") for line in said] == [
        "version 1 is a candidate; in production is the model that ships",
        f"version 1 is in production; before it was the model that ships {was}",
        f"version 2 is in production; before it was version 1 {was}",
        "version 1 is in production again; version 2 is retired",
        "the model that ships is in production again; version 1 is retired",
    ]


def test_the_list_is_a_table_with_stages_and_scores(place: Path) -> None:
    called(place, "promote", "a")
    called(place, "add", "b")
    _, output, errors = called(place, "list")
    assert output == ""
    rows = [line.split() for line in errors.splitlines()]
    assert rows[0][:3] == ["version", "stage", "name"]
    assert [row[:3] for row in rows[1:]] == [["1", "production", "a"], ["2", "candidate", "b"]]
    assert rows[1][-3:] == ["2", "1", "validation_loss=0.25"]


def test_a_damaged_version_is_listed_beside_the_others_and_said_to_be_damaged(place: Path) -> None:
    called(place, "add", "a")
    called(place, "add", "b")
    manifest = Registry(place / "paramedic-models").folder_of(1) / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"a"', '"c"'))
    first, second = told(place, "list")["models"]
    assert "manifest.json" in first["damaged"]
    assert second["name"] == "b"
    assert "\ndamaged: " in called(place, "list")[2]


def test_one_model_is_shown_with_its_training_and_why_it_was_promoted(place: Path) -> None:
    called(place, "promote", "a", "--why", "finds the quiet ones")
    _, _, errors = called(place, "show")
    lines = errors.splitlines()
    assert lines[0] == "a, version 1, made 2026-01-01T00:00:00Z"
    assert "trained on job-a: 600 s from 2027-01-15T08:00:00Z, abababababab" in lines
    assert lines[-1].endswith("production  finds the quiet ones")
    assert told(place, "show", "1")["scores"] == {"validation_loss": 0.25}
    assert told(place, "show", "b")["name"] == "b"


def test_a_registry_can_lie_elsewhere(place: Path) -> None:
    assert called(place, "add", "a", "--registry", "elsewhere")[0] == 0
    assert [one.number for one in Registry(place / "elsewhere").versions()] == [1]


def test_whole_models_verify_with_0(place: Path) -> None:
    called(place, "add", "a")
    called(place, "add", "b")
    assert called(place, "verify") == (0, "", "paramedic: 2 of 2 models whole\n")
    assert called(place, "verify", "b")[0] == 0


def test_a_damaged_one_among_them_is_named_and_makes_it_2(place: Path) -> None:
    called(place, "add", "a")
    called(place, "add", "b")
    damage(Registry(place / "paramedic-models").folder_of(1))
    code, output, errors = called(place, "verify", "--format", "json")
    assert code == 2
    first, second = json.loads(output)["verified"]
    assert "0001/model.safetensors: its SHA-256 is " in first["damaged"]
    assert second == {"model": "2", "damaged": None}
    assert errors.endswith("paramedic: 1 of 2 models whole\n")


def test_the_list_knows_a_damaged_version_as_verify_does(place: Path) -> None:
    called(place, "add", "a")
    called(place, "add", "b")
    damage(Registry(place / "paramedic-models").folder_of(1))
    first, second = told(place, "list")["models"]
    assert "0001/model.safetensors: its SHA-256 is " in first["damaged"]
    assert "name" not in first
    assert second["name"] == "b"
    assert "damaged: " in called(place, "list")[2]


def test_a_broken_record_has_a_remedy_and_what_needs_no_record_works(place: Path) -> None:
    called(place, "add", "a")
    registry = Registry(place / "paramedic-models")
    registry.record_file.write_text('{"schema": 1, "entries": [{"step": "burn"}]}')
    code, _output, errors = called(place, "list")
    assert (code, errors.count("\n")) == (2, 1)
    assert "no record of a registry: entries[0].step is 'burn', it must be one of add, " in errors
    assert f"add each anew (paramedic models add {registry.folder_of(1)} and so on)" in errors
    assert called(place, "verify", "b")[0] == called(place, "show", "shipped")[0] == 0
    registry.record_file.unlink()
    assert told(place, "promote", str(registry.folder_of(1)))["version"] == 2


def test_a_model_is_shown_briefly_or_whole(place: Path) -> None:
    brief, whole = called(place, "show", "shipped")[2], called(place, "show", "shipped", "--all")[2]
    assert brief.count("\n") < 15
    assert "(--all lists them)" in brief
    assert whole.count("\n") > 50


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "action"),
        (["burn"], "invalid choice: 'burn'"),
        (["promote"], "models promote needs a MODEL: a version or a model folder"),
        (["add"], "models add needs a MODEL"),
        (["list", "1"], "models list takes no MODEL: leave '1' out"),
        (["list", "--why", "x"], "--why goes with promote and rollback"),
        (["promote", "7"], "version 7: there is no such version; there are: none"),
        (["promote", "nowhere"], "nowhere: no such folder: name a version, a model folder or"),
        (["verify", "nowhere"], "nowhere: no such folder"),
        (["add", "."], "manifest.json: No such file or directory: a model is a folder with"),
        (["add", "bad"], "bad/model.safetensors: its SHA-256 is "),
        (["promote", "bad"], "bad/model.safetensors: its SHA-256 is "),
        (["rollback"], "no version is in production, so there is nothing to roll back"),
        (["list", "--registry", "a/manifest.json/x"], "x is no registry: no such folder; name one"),
        (["rollback", "--registry", "nowhere"], "nowhere is no registry: no such folder; name one"),
        (["promote", "1", "--registry", "."], "is no registry: it holds no record.json; name one"),
        (["list", "--all"], "--all goes with show"),
        (["add", "a", "--registry", "a/manifest.json"], "the registry cannot be read: "),
    ],
)
def test_what_cannot_work_is_one_line_and_exit_code_2(
    place: Path, arguments: list[str], words: str
) -> None:
    save(place / "bad", artifact_of(), manifest_of())
    damage(place / "bad")
    code, output, errors = called(place, *arguments)
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert words in errors
