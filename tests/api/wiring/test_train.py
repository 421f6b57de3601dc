"""`paramedic train` around the learning itself: reading, resuming, writing, refusing."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from api.wiring.naming import Named
from ingest.recordings.recorded import describe, gpu_row, write_rows
from models.registry.models_of_ours import artifact_of
from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.train import TrainRequest, train
from paramedic.ingest.folder_lock import FolderInUseError, alone_in
from paramedic.models.history import JobHistory
from paramedic.models.pattern.artifact import PatternArtifact
from paramedic.models.pattern.errors import TrainingError
from paramedic.models.registry.errors import ModelWriteError
from paramedic.models.registry.model_folder import load
from paramedic.models.training.fit_settings import FitSettings

if TYPE_CHECKING:
    from pytorch_lightning.loggers import Logger


class Learner:
    """Learns nothing, and keeps what it was given."""

    def __init__(self, trouble: BaseException | None = None) -> None:
        self.trouble = trouble
        self.settings = FitSettings()
        self.histories: Sequence[JobHistory] = ()
        self.loggers: Sequence[Logger] = ()

    def __call__(
        self,
        histories: Sequence[JobHistory],
        settings: FitSettings,
        progress: Callable[[str, float], None],
        loggers: Sequence[Logger],
    ) -> PatternArtifact:
        self.histories, self.settings, self.loggers = histories, settings, loggers
        for share in (0.25, 0.5, 1.0):
            progress("training", share)
        if self.trouble is not None:
            raise self.trouble
        scores = {"best_epoch": 2, "held_out_loss_nats": 0.5}
        return replace(artifact_of(settings.seed), scores=scores)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        rows = [gpu_row(second, name) for second in range(9)]
        write_rows(describe(tmp_path / name), "gpu", rows)
    return tmp_path


def request(place: Path, *recordings: str) -> TrainRequest:
    return TrainRequest(
        recordings=tuple(map(Path, recordings or ("a", "b"))),
        folder=place,
        out=place / "models" / "ours",
        name="ours",
        seed=3,
        epochs=None,
        resume=False,
        accelerator="cpu",
        logs=None,
        now=datetime(2026, 1, 1, 12, 0, 0, 5, UTC),
        clock=count().__next__,
    )


def trained(asked: TrainRequest, learner: Learner) -> tuple[str, str]:
    """Standard output and standard error of a training that ended well."""
    out, err = io.StringIO(), io.StringIO()
    assert train(asked, out, err, learner) == 0
    return out.getvalue(), err.getvalue()


def test_a_model_is_written_with_what_it_was_trained_on(place: Path) -> None:
    learner = Learner()
    output, _ = trained(request(place), learner)
    artifact, manifest = load(place / "models" / "ours")
    assert artifact.digest() == artifact_of(3).digest()
    assert (manifest.name, manifest.created) == ("ours", "2026-01-01T12:00:00Z")
    assert [(one.name, one.seconds) for one in manifest.trained_on] == [("a", 9), ("b", 9)]
    assert len({one.sha256 for one in manifest.trained_on}) == 2
    told = json.loads(output)
    assert (told["model"], told["tensors_sha256"]) == (
        str(place / "models" / "ours"),
        manifest.tensors_sha256,
    )
    assert told["trained_seconds"] == 18
    assert len(learner.histories) == 2


def test_scores_of_training_are_in_the_manifest_and_told(place: Path) -> None:
    output, _ = trained(request(place), Learner())
    scores = {"best_epoch": 2, "held_out_loss_nats": 0.5}
    assert load(place / "models" / "ours")[1].scores == scores
    assert json.loads(output)["scores"] == scores


def test_what_is_known_to_have_been_broken_is_looked_for_afterwards(place: Path) -> None:
    for name in ("a", "b"):
        describe(place / name, job=f"job-{name}")
        fault = {"kind": "ecc_error", "node": name, "onset": "2026-01-01T00:00:04Z"}
        (place / f"{name}.labels.json").write_text(json.dumps({"faults": [fault]}))
    out, err = io.StringIO(), io.StringIO()
    assert train(request(place), out, err, Learner(), lambda _model: Named()) == 0
    scores = load(place / "models" / "ours")[1].scores
    assert (scores["labelled_episodes"], scores["best_epoch"]) == (1, 2)
    assert "looking for what is known to have been broken in 2 jobs" in err.getvalue()


def test_labels_that_cannot_be_read_end_it_before_anything_is_learnt(place: Path) -> None:
    (place / "b.labels.json").write_text("{")
    with pytest.raises(InputError, match=r"b\.labels\.json is no label file"):
        train(request(place), io.StringIO(), io.StringIO(), Learner(AssertionError()))


def test_a_folder_for_logs_is_tried_before_anything_is_read(place: Path) -> None:
    (place / "logs").write_text("")
    with pytest.raises(InputError, match=r"--logs .*logs cannot be written .File exists.: name"):
        trained(replace(request(place, "nosuch"), logs=place / "logs"), Learner())


def test_two_trainings_write_the_same_bytes(place: Path) -> None:
    one, other = request(place), replace(request(place), out=place / "again")
    for asked in (one, other):
        trained(asked, Learner())
    for name in ("model.safetensors", "manifest.json"):
        assert (one.out / name).read_bytes() == (other.out / name).read_bytes()


def test_progress_is_told_when_it_is_another_thing_and_every_few_seconds(place: Path) -> None:
    _, errors = trained(request(place), Learner())
    lines = [line.removeprefix("paramedic: ") for line in errors.splitlines()]
    assert lines[:4] == [
        "a: 9 s in 1 part",
        "b: 9 s in 1 part",
        "training: 25 %",
        "training: 100 %",
    ]
    assert lines[4].endswith("puts it in use")


def test_flags_reach_the_learner(place: Path) -> None:
    learner = Learner()
    trained(replace(request(place), epochs=2, accelerator="auto"), learner)
    settings = learner.settings
    assert (settings.seed, settings.most_epochs, settings.accelerator) == (3, 2, "auto")
    assert learner.loggers == ()


def test_checkpoints_lie_beside_the_model_while_it_is_made_and_go_at_the_end(place: Path) -> None:
    learner = Learner()
    trained(request(place), learner)
    assert learner.settings.checkpoint_folder == place / "models" / "ours.training"
    assert [one.name for one in (place / "models").iterdir()] == ["ours"]


def stopped(asked: TrainRequest) -> Path:
    """A training that was interrupted; its folder."""
    with pytest.raises(KeyboardInterrupt):
        train(asked, io.StringIO(), io.StringIO(), Learner(KeyboardInterrupt()))
    folder = asked.out.with_name("ours.training")
    (folder / "last.ckpt").write_bytes(b"so far")
    return folder


def test_a_training_that_was_stopped_goes_on_in_its_folder_when_that_is_asked_for(
    place: Path,
) -> None:
    folder = stopped(request(place))
    with pytest.raises(InputError, match="holds a training that was stopped: --resume goes on"):
        train(request(place), io.StringIO(), io.StringIO(), Learner())
    assert (folder / "last.ckpt").exists()
    learner = Learner()
    trained(replace(request(place), resume=True), learner)
    assert learner.settings.checkpoint_folder == folder
    assert not folder.exists()


def test_resuming_where_nothing_was_stopped_begins_anew(place: Path) -> None:
    trained(replace(request(place), resume=True), Learner())


@pytest.mark.parametrize(
    ("other", "words"),
    [({"seed": 4}, "other seed"), ({"epochs": 2}, "other epochs"),
     ({"recordings": (Path("a"),)}, "other recordings"),
     ({"recordings": (Path("b"), Path("a")), "seed": 4}, "other seed, recordings")],
)  # fmt: skip
def test_another_training_does_not_go_on_from_these_checkpoints(
    place: Path, other: dict[str, object], words: str
) -> None:
    stopped(request(place))
    asked = replace(request(place), resume=True, **other)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"holds a training with {words}: take the same again"):
        train(asked, io.StringIO(), io.StringIO(), Learner())


def test_a_folder_of_somebody_else_is_not_taken_for_checkpoints(place: Path) -> None:
    other = place / "models" / "ours.training"
    other.mkdir(parents=True)
    (other / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="is no training's folder"):
        train(request(place), io.StringIO(), io.StringIO(), Learner())
    assert (other / "notes.txt").read_text() == "mine"


def test_two_trainings_of_one_model_at_the_same_time_are_one_line(place: Path) -> None:
    asked = request(place)
    folder = asked.out.with_name("ours.training")
    with alone_in(folder, "a training"), pytest.raises(FolderInUseError) as told:
        train(replace(asked, resume=True), io.StringIO(), io.StringIO(), Learner())
    assert f"{folder} is in use: a training of process {os.getpid()}" in str(told.value)
    trained(asked, Learner())
    assert not folder.exists()


def test_a_training_that_was_stopped_is_told_before_a_recording_is_read(place: Path) -> None:
    asked, err = request(place), io.StringIO()
    stopped(asked)
    with pytest.raises(InputError, match="holds a training that was stopped"):
        train(asked, io.StringIO(), err, Learner())
    assert err.getvalue() == ""


def test_a_damaged_note_of_a_training_is_told(place: Path) -> None:
    folder = stopped(request(place))
    (folder / "training.json").write_text("{")
    with pytest.raises(InputError, match=r"training\.json: .*: remove "):
        train(replace(request(place), resume=True), io.StringIO(), io.StringIO(), Learner())


def test_recordings_that_teach_nothing_are_one_line_and_leave_nothing(place: Path) -> None:
    learner = Learner(TrainingError("too short"))
    with pytest.raises(InputError, match="the recordings teach nothing: too short"):
        train(request(place), io.StringIO(), io.StringIO(), learner)
    assert list((place / "models").iterdir()) == []


def test_a_model_that_is_there_is_refused_before_anything_is_read(place: Path) -> None:
    (place / "models" / "ours").mkdir(parents=True)
    with pytest.raises(ModelWriteError, match="is there already: name another folder"):
        train(request(place, "nowhere"), io.StringIO(), io.StringIO(), Learner())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a"], "--out"),
        (["--out", "m"], "RECORDING"),
        (["nowhere", "--out", "m"], "nowhere: no such folder: name the folder of a recording"),
        (["a", "--out", "m", "--seed", "x"], "'x' is no whole number"),
        (["a", "--out", "m", "--epochs", "0"], "'0': give a whole number from 1 on"),
        (["a", "--out", "m", "--accelerator", "tpu"], "invalid choice: 'tpu'"),
        (["a", "--out", "b"], "is there already: name another folder"),
    ],
)
def test_what_cannot_work_is_one_line_and_exit_code_2(
    place: Path, arguments: list[str], words: str
) -> None:
    out, err = io.StringIO(), io.StringIO()
    assert dispatch(["train", *arguments], Surroundings(place, {}, out, err)) == 2
    assert (out.getvalue(), err.getvalue().count("\n")) == ("", 1)
    assert words in err.getvalue()
