"""Fits an LSTM-VAE on windows, until the reconstruction is good enough or the epochs are over."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from paramedic.models.minder.network import LATENT, LstmVae

if TYPE_CHECKING:
    from torch import Tensor

_RISING_SHARE = 0.1
_MARGIN = 4.0
"""Training goes on below the error that is asked for: it is cheap there."""


@dataclass(frozen=True, slots=True)
class FitSettings:
    """What the paper says, and beside it what it leaves open."""

    enough_error: float = 1e-4
    """Mean square error of the reconstruction that the paper asks for."""
    epochs: int = 20
    """After so many it is over, good enough or not: where a metric swings with every training
    step, four hidden units cannot reach it."""
    batch: int = 256
    rate: float = 0.03
    """The largest; it rises to it and falls."""
    divergence_weight: float = 1e-4
    """Of the Kullback-Leibler term, beside the error as a share of the windows' variance; small,
    since the error could not be reached otherwise."""
    seed: int = 0


def fit(windows: Tensor, settings: FitSettings) -> LstmVae:
    """A network for (samples, features, windows); the same windows give the same network."""
    network = LstmVae(windows.shape[1], settings.seed)
    draw = torch.Generator().manual_seed(settings.seed)
    network.centre_on(windows)
    fitting = _Fitting(network, settings, math.ceil(windows.shape[2] / settings.batch))
    for _ in range(settings.epochs):
        batches = torch.randperm(windows.shape[2], generator=draw).split(settings.batch)
        for batch in batches:
            noise = torch.randn(LATENT, len(batch), generator=draw)
            fitting.step(windows[:, :, batch], noise)
        if error_of(network, windows) < settings.enough_error / _MARGIN:
            break
    return network.eval().requires_grad_(requires_grad=False)


def error_of(network: LstmVae, windows: Tensor) -> float:
    """Mean square error of the reconstruction from the mean code."""
    with torch.inference_mode():
        return float((network(windows).windows - windows).square().mean())


def share_of_rate(step: int, total: int) -> float:
    """Of the largest rate: up in the first tenth of the steps, then down along a cosine.

    >>> [round(share_of_rate(step, 20), 2) for step in (0, 1, 2, 11, 20)]
    [0.5, 0.99, 0.98, 0.42, 0.0]
    """
    rising = (step + 1) / max(1.0, _RISING_SHARE * total)
    return min(rising, 0.5 * (1.0 + math.cos(math.pi * min(1.0, step / total))))


class _Fitting:
    """One network on its way."""

    def __init__(self, network: LstmVae, settings: FitSettings, batches: int) -> None:
        self._network = network
        self._weight = settings.divergence_weight
        self._optimiser = torch.optim.Adam(network.parameters(), settings.rate)
        total = settings.epochs * batches
        self._rate = torch.optim.lr_scheduler.LambdaLR(
            self._optimiser, lambda step: share_of_rate(step, total)
        )

    def step(self, windows: Tensor, noise: Tensor) -> None:
        made = self._network(windows, noise)
        error = ((made.windows - windows) / self._network.scale).square().mean()
        spread = made.log_variance
        divergence = 0.5 * (made.mean.square() + spread.exp() - 1.0 - spread).sum(dim=0).mean()
        self._optimiser.zero_grad()
        (error + self._weight * divergence).backward()
        self._optimiser.step()
        self._rate.step()
