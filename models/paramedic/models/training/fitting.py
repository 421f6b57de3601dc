"""From histories to a model: one pass for counts and windows, some epochs for the network, and the
calibration of what the network then says.

One seed, the same histories and the same settings give the same model, to the last bit. Histories
may hold faults, as long as most rows are well most of the time.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import torch
from pytorch_lightning import Callback, Trainer
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint

from paramedic.models.pattern.artifact import PatternArtifact
from paramedic.models.pattern.calibration import LINES, MACHINES
from paramedic.models.pattern.errors import TrainingError
from paramedic.models.pattern.metric_kinds import ABSENCE, MEAN_OF_NODE
from paramedic.models.pattern.scorer import PatternReader
from paramedic.models.pattern.surprise import Surprise, weights_of
from paramedic.models.training.machine_tails import machine_tails
from paramedic.models.training.module import HELD_OUT_LOSS, PatternModule
from paramedic.models.training.sampling import sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from pytorch_lightning.loggers import Logger

    from paramedic.models.history import JobHistory
    from paramedic.models.training.fit_settings import FitSettings, Progress
    from paramedic.models.training.sampling import Sample

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def _unheard(stage: str, share: float) -> None:
    del stage, share


def fit(
    histories: Sequence[JobHistory],
    settings: FitSettings,
    progress: Progress = _unheard,
    loggers: Sequence[Logger] = (),
) -> PatternArtifact:
    """Train a model. Raises TrainingError where the histories cannot teach one.

    `progress` hears what is being done, and the share of it that is done.
    """
    drawn = sample(histories, settings, progress) if histories else None
    if drawn is None:
        raise TrainingError(
            f"{len(histories)} histories hold no window of {settings.pattern.window_slots} slots:"
            " give longer recordings with more than two machines"
        )
    weights = _trained(drawn, settings, progress, loggers)
    surprise = Surprise(settings.pattern, weights).of(drawn.windows, drawn.kinds)
    drawn.counter.count_surprise(drawn.lines, surprise)
    bare = _artifact(drawn, weights, settings)
    table = machine_tails(PatternReader(bare, settings.pattern), histories, settings, progress)
    progress("done", 1.0)
    return replace(bare, tensors={**bare.tensors, MACHINES: table})


def _artifact(
    drawn: Sample, weights: Mapping[str, NDArray[np.float32]], settings: FitSettings
) -> PatternArtifact:
    names = drawn.counter.names
    return PatternArtifact(
        settings={**settings.pattern.as_mapping(), LINES: " ".join(names), "seed": settings.seed},
        tensors={**weights, **drawn.counter.tensors(settings.pattern.most_nats)},
        metrics=tuple(sorted(filter(_is_plain, names))),
        fingerprint={name: _fingerprint(drawn, name) for name in names},
    )


def _is_plain(name: str) -> bool:
    return not name.startswith((MEAN_OF_NODE, ABSENCE))


def _fingerprint(drawn: Sample, name: str) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for share in _QUANTILES:
        mark = f"q{round(share * 100):02d}"
        found[f"input_{mark}"], found[f"score_{mark}"] = drawn.counter.quantile(name, share)
    return found


def _trained(
    drawn: Sample, settings: FitSettings, progress: Progress, loggers: Sequence[Logger]
) -> Mapping[str, NDArray[np.float32]]:
    learning, held_out = _split(drawn.history, settings)
    inputs = [drawn.windows.departure, drawn.windows.observed, drawn.windows.activity, drawn.kinds]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        module = PatternModule(
            settings, [torch.from_numpy(one) for one in inputs], learning, held_out
        )
    with TemporaryDirectory() as passing:
        folder = settings.checkpoint_folder or Path(passing)
        best = ModelCheckpoint(
            folder, "best", HELD_OUT_LOSS, save_last=True, enable_version_counter=False
        )
        stop = EarlyStopping(HELD_OUT_LOSS, patience=settings.patience_epochs)
        trainer = Trainer(
            accelerator=settings.accelerator, devices=1, max_epochs=settings.most_epochs,
            callbacks=[best, stop, _Told(progress, settings.most_epochs)], logger=list(loggers),
            deterministic=True, enable_progress_bar=False, enable_model_summary=False,
            num_sanity_val_steps=0, reload_dataloaders_every_n_epochs=1,
        )  # fmt: skip
        last = folder / "last.ckpt"
        trainer.fit(module, ckpt_path=last if last.exists() else None, weights_only=True)
        kept = torch.load(best.best_model_path, weights_only=True, map_location="cpu")
        module.load_state_dict(kept["state_dict"])
    return weights_of(module.network)


def _split(history: NDArray[np.intp], settings: FitSettings) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions of windows to learn from, and of those of held-out jobs.

    With a single job, the last of its windows are held out.
    """
    jobs = np.unique(history)
    shuffled = np.random.default_rng([settings.seed, 1]).permutation(jobs)
    held = shuffled[: max(1, round(len(jobs) * settings.held_out_share))]
    is_held = np.isin(history, held)
    if len(jobs) == 1:
        is_held = np.arange(len(history)) >= len(history) * (1 - settings.held_out_share)
    positions = torch.arange(len(history))
    mask = torch.from_numpy(is_held)
    return positions[~mask], positions[mask]


class _Told(Callback):
    """Tells how many epochs are done."""

    def __init__(self, progress: Progress, epochs: int) -> None:
        self._progress, self._epochs = progress, epochs

    def on_train_epoch_end(self, trainer: Trainer, pl_module: PatternModule) -> None:  # type: ignore[override]
        """An epoch is done."""
        del pl_module
        self._progress("training", (trainer.current_epoch + 1) / self._epochs)
