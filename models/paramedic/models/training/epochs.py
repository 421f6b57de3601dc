"""The epochs of the network, by Lightning: it takes seconds to import, so that only who trains
imports this."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import torch
from pytorch_lightning import Callback, Trainer
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint

from paramedic.models.pattern.surprise import weights_of
from paramedic.models.training.module import HELD_OUT_LOSS, PatternModule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from pytorch_lightning.loggers import Logger

    from paramedic.models.training.fit_settings import FitSettings, Progress
    from paramedic.models.training.sampling import Sample


@dataclass(frozen=True)
class Trained:
    """The network of the epoch with the least held-out loss."""

    weights: Mapping[str, NDArray[np.float32]]
    scores: Mapping[str, float]
    """That loss, in nats a slot, the epoch, and how many windows taught and told when to stop."""


def trained(
    drawn: Sample, settings: FitSettings, progress: Progress, loggers: Sequence[Logger]
) -> Trained:
    """Go through the epochs."""
    # Its import sets a level at which it speaks of hardware and offers; progress is told by us.
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
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
    scores = {
        "held_out_loss_nats": round(float(torch.as_tensor(best.best_model_score)), 6),
        "best_epoch": int(kept["epoch"]) + 1,
        "windows_learnt": len(learning),
        "windows_held_out": len(held_out),
    }
    return Trained(weights_of(module.network), scores)


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
