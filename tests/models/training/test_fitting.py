"""Training gives the same model for the same seed, goes on after a stop, and bears faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.pattern.fitted import HISTORIES, SMALL, fitted, small_model
from paramedic.models.pattern.errors import TrainingError
from paramedic.models.training.fit_settings import FitSettings
from paramedic.models.training.fitting import fit


@pytest.mark.long
def test_one_seed_gives_one_model_and_another_seed_another() -> None:
    assert fitted().digest() == small_model().digest()
    assert fitted(replace(SMALL, seed=1)).digest() != small_model().digest()


@pytest.mark.long
def test_a_training_that_was_stopped_ends_as_an_unbroken_one(tmp_path: Path) -> None:
    fitted(replace(SMALL, most_epochs=1, checkpoint_folder=tmp_path))
    resumed = fitted(replace(SMALL, checkpoint_folder=tmp_path))
    assert resumed.digest() == small_model().digest()


@pytest.mark.long
def test_a_model_says_on_what_it_was_trained() -> None:
    model = small_model()
    assert model.metrics == ("gpu_power_watts", "gpu_tensor_active_ratio")
    told = model.fingerprint["gpu_power_watts"]
    assert told["input_q05"] < told["input_q50"] < told["input_q95"]
    assert np.isfinite(told["score_q50"])


@pytest.mark.long
def test_a_model_carries_what_its_training_measured() -> None:
    scores = small_model().scores
    assert np.isfinite(scores["held_out_loss_nats"])
    assert scores["best_epoch"] in (1, 2)
    learnt, held_out = scores["windows_learnt"], scores["windows_held_out"]
    assert min(held_out, learnt) > 0
    assert learnt + held_out <= SMALL.windows
    assert learnt + held_out <= scores["windows_calibrated"]
    # Of GPUs that were seen in every slot there are plenty of rows, and few windows.
    assert 0 <= scores["own_tables_ratio"] < 1


@pytest.mark.long
def test_a_resumed_training_measures_what_an_unbroken_one_does(tmp_path: Path) -> None:
    fitted(replace(SMALL, most_epochs=1, checkpoint_folder=tmp_path))
    resumed = fitted(replace(SMALL, checkpoint_folder=tmp_path))
    assert resumed.scores == small_model().scores


@pytest.mark.long
def test_tensors_are_finite_singles() -> None:
    for name, tensor in small_model().tensors.items():
        assert tensor.dtype == np.float32, name
        assert np.isfinite(tensor).all(), name


@pytest.mark.long
def test_progress_is_heard_to_the_end() -> None:
    heard: list[tuple[str, float]] = []
    fitted(histories=HISTORIES[:1], progress=lambda stage, share: heard.append((stage, share)))
    assert heard[0] == ("reading histories", 0.0)
    assert heard[-1] == ("done", 1.0)
    assert ("training", 1.0) in heard


def test_no_history_teaches_nothing() -> None:
    with pytest.raises(TrainingError, match="give longer recordings"):
        fit((), SMALL)


def test_histories_shorter_than_what_it_takes_to_know_a_row_teach_nothing() -> None:
    brief = HISTORIES[0].until(HISTORIES[0].seconds[10])
    with pytest.raises(TrainingError):
        fit([brief], SMALL)


@pytest.mark.parametrize(
    ("name", "value"),
    [("windows", 0), ("held_out_share", 1.0), ("trimmed_share", -0.1), ("learning_rate", 0.0)],
)
def test_settings_that_cannot_be_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        FitSettings(**{name: value})  # type: ignore[arg-type]
