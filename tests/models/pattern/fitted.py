"""A small model that was fitted to made-up healthy jobs, once for all tests."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache

import numpy as np

from models.pattern.made_up import gpu_values, history_of
from paramedic.models.history import JobHistory
from paramedic.models.pattern.artifact import PatternArtifact
from paramedic.models.pattern.settings import PatternSettings
from paramedic.models.training.fit_settings import FitSettings, Progress
from paramedic.models.training.fitting import fit

SMALL = FitSettings(
    pattern=PatternSettings(hidden=4, latent=2),
    windows=150,
    windows_to_calibrate=150,
    batch=64,
    most_epochs=2,
    learning_rate=0.01,
)


def healthy(seed: int, slots: int = 100) -> JobHistory:
    return history_of(gpu_values(6, slots, seed))


def scraped(seed: int, slots: int = 300) -> JobHistory:
    """A healthy job of which some scrapes are lost, a machine at a time, for a few slots."""
    values = gpu_values(6, slots, seed)
    dice = np.random.default_rng(seed)
    for begin in range(70, slots - 4, 20):
        machine = 2 * int(dice.integers(6))
        values[machine : machine + 2, :, begin : begin + int(dice.integers(1, 4))] = np.nan
    return history_of(values)


HISTORIES = tuple(scraped(seed) for seed in range(2))


def fitted(
    settings: FitSettings = SMALL,
    histories: Sequence[JobHistory] = HISTORIES,
    progress: Progress = print,
) -> PatternArtifact:
    with warnings.catch_warnings():
        # Lightning speaks of a call of torch's that has become old, and of slow data loading.
        warnings.simplefilter("ignore")
        return fit(histories, settings, progress)


@cache
def small_model() -> PatternArtifact:
    return fitted()
