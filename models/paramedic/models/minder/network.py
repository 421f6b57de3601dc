"""The LSTM-VAE: one layer, four hidden units, eight latent ones, for windows of eight samples.

Windows lie along the last axis, so that every gate is one operation on contiguous memory: with four
hidden units this is several times as quick as a general LSTM, and training and use share it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = 4
LATENT = 8
_FIRST_LOG_VARIANCE = -8.0
_REMEMBERING = 1.0
"""Added to the biases of the gates that keep the cell."""
_LEAST_SCALE = 1e-3
"""A metric that hardly moves in training is not blown up."""


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """What the network makes of windows; (samples, features, windows) and (latent, windows)."""

    windows: Tensor
    mean: Tensor
    log_variance: Tensor


class LstmVae(nn.Module):
    """Encodes a window into a normal distribution and decodes a draw of it, or its mean."""

    def __init__(self, features: int, seed: int) -> None:
        super().__init__()
        draw = torch.Generator().manual_seed(seed)
        self.encoder = _Lstm(features, draw)
        self.latent = _Affine(2 * LATENT, HIDDEN, draw)
        self.decoder = _Lstm(LATENT, draw)
        self.output = _Affine(features, HIDDEN, draw)
        self.centre = nn.Buffer(torch.zeros(features, 1))
        self.scale = nn.Buffer(torch.ones(features, 1))
        with torch.no_grad():
            # Narrow at first: noise as wide as the code would teach the decoder not to listen.
            self.latent.bias[LATENT:] = _FIRST_LOG_VARIANCE
            for lstm in (self.encoder, self.decoder):
                lstm.inputs.bias[HIDDEN : 2 * HIDDEN] += _REMEMBERING

    def centre_on(self, windows: Tensor) -> None:
        """Work inside with mean 0 and deviation 1 of these (samples, features, windows)."""
        self.centre.copy_(windows.mean(dim=(0, 2))[:, None])
        self.scale.copy_(windows.std(dim=(0, 2)).clamp(min=_LEAST_SCALE)[:, None])

    def forward(self, windows: Tensor, noise: Tensor | None = None) -> Reconstruction:
        """Of (samples, features, windows); without noise (latent, windows) the mean is decoded."""
        inside = (windows - self.centre) / self.scale
        *_, last = self.encoder.states(inside.unbind(0))
        mean, log_variance = self.latent(last).chunk(2)
        log_variance = log_variance.clamp(-12.0, 4.0)
        code = mean if noise is None else mean + noise * (0.5 * log_variance).exp()
        states = self.decoder.states((code,) * len(windows), is_constant=True)
        decoded = torch.stack([self.output(state) for state in states])
        return Reconstruction(decoded * self.scale + self.centre, mean, log_variance)


class _Affine(nn.Module):
    """weight · x + bias, for x of (inputs, windows)."""

    def __init__(self, outputs: int, inputs: int, draw: torch.Generator) -> None:
        super().__init__()
        bound = 1.0 / math.sqrt(HIDDEN)
        self.weight = nn.Parameter((torch.rand(outputs, inputs, generator=draw) * 2 - 1) * bound)
        self.bias = nn.Parameter((torch.rand(outputs, 1, generator=draw) * 2 - 1) * bound)

    def forward(self, inputs: Tensor) -> Tensor:
        return torch.addmm(self.bias, self.weight, inputs)


class _Lstm(nn.Module):
    """One layer of LSTM cells."""

    def __init__(self, inputs: int, draw: torch.Generator) -> None:
        super().__init__()
        self.inputs = _Affine(4 * HIDDEN, inputs, draw)
        self.recurrent = _Affine(4 * HIDDEN, HIDDEN, draw)

    def states(self, samples: tuple[Tensor, ...], *, is_constant: bool = False) -> Iterator[Tensor]:
        """The hidden state (hidden, windows) after each sample (inputs, windows)."""
        driven = self.inputs(samples[0]) if is_constant else None
        hidden: Tensor | None = None
        cell: Tensor | None = None
        for sample in samples:
            gates = self.inputs(sample) if driven is None else driven
            gates = gates + (self.recurrent.bias if hidden is None else self.recurrent(hidden))
            opened = torch.sigmoid(gates[: 3 * HIDDEN])
            fresh = opened[:HIDDEN] * torch.tanh(gates[3 * HIDDEN :])
            cell = fresh if cell is None else opened[HIDDEN : 2 * HIDDEN] * cell + fresh
            hidden = opened[2 * HIDDEN :] * torch.tanh(cell)
            yield hidden
