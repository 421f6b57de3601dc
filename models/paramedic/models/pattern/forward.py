"""The network's way from windows to surprise in plain NumPy: for batches of some thousand sequences
on one core several times quicker than torch, which training needs.

Everything has the sequences last. The two sums that an LSTM takes in each step are one matrix
product: under the memory lie what is read in the step, what does not change, and a row of ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.pattern.network import (
    HIGHEST_LOG_SCALE,
    LOWEST_LOG_SCALE,
    MOST_LOG_VARIANCE,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Singles = NDArray[np.float32]

_GATES = 4
_BY_STEP = 3
_HALF = np.float32(0.5)


@dataclass(frozen=True, slots=True)
class _Memory:
    """One LSTM; a sigmoid is half a tanh of half the number, so that one call does all gates."""

    weights: Singles
    """(gates * width, width + inputs + 1): for memory, inputs and the ones."""
    width: int

    @classmethod
    def of(cls, weights: Mapping[str, Singles], name: str) -> _Memory:
        """Torch's order of gates is in, forget, new, out; here the new comes last."""
        biases = weights[f"{name}.bias_ih_l0"] + weights[f"{name}.bias_hh_l0"]
        ours = (weights[f"{name}.weight_hh_l0"], weights[f"{name}.weight_ih_l0"], biases[:, None])
        taken, forgotten, new, out = np.split(np.concatenate(ours, axis=1), _GATES)
        ordered = np.concatenate([_HALF * taken, _HALF * forgotten, _HALF * out, new])
        return cls(np.ascontiguousarray(ordered, np.float32), len(new))

    def stacked(self, *parts: Singles) -> Singles:
        """What `read` takes: parts by step, (steps, inputs, sequences), or the same in all."""
        steps = max(len(part) for part in parts if part.ndim == _BY_STEP)
        shape = (steps + 1, self.weights.shape[1], parts[0].shape[-1])
        found, row = np.empty(shape, np.float32), self.width
        for part in parts:
            found[:steps, row : row + part.shape[-2]] = part
            row += part.shape[-2]
        found[:, row] = 1
        return found

    def read(self, steps: Singles) -> Singles:
        """The memory after each step, (steps, width, sequences).

        `steps`: (steps + 1, width + inputs + 1, sequences); the first rows are written over.
        """
        width, count = self.width, steps.shape[2]
        gates = np.empty((_GATES * width, count), np.float32)
        taken, forgotten, out, new = gates.reshape(_GATES, width, count)
        shares = gates[: 3 * width]
        cell, bent = np.zeros((2, width, count), np.float32)
        steps[0, :width] = 0
        for at in range(len(steps) - 1):
            np.matmul(self.weights, steps[at], out=gates)
            np.tanh(gates, out=gates)
            np.multiply(shares, _HALF, out=shares)
            np.add(shares, _HALF, out=shares)
            np.multiply(cell, forgotten, out=cell)
            np.multiply(taken, new, out=new)
            np.add(cell, new, out=cell)
            np.tanh(cell, out=bent)
            np.multiply(out, bent, out=steps[at + 1, :width])
        return steps[1:, :width]


class ForwardPass:
    """`PatternNetwork.forward` without noise."""

    def __init__(
        self, weights: Mapping[str, Singles], patch_slots: int, newest_patches: int
    ) -> None:
        """`weights`: those of a `PatternNetwork`, by its names."""
        self._patch, self._newest = patch_slots, slice(-newest_patches, None)
        self._kinds = np.ascontiguousarray(weights["kind.weight"].T)
        self._encoder = _Memory.of(weights, "encoder")
        self._decoder = _Memory.of(weights, "decoder")
        self._posterior = (weights["posterior.weight"], weights["posterior.bias"][:, None])
        self._likelihood = (weights["likelihood.weight"], weights["likelihood.bias"][:, None])

    def __call__(
        self, departure: Singles, observed: Singles, activity: Singles, kinds: NDArray[np.int64]
    ) -> Singles:
        """Nats a slot by which each window surprises; inputs (slots, sequences), kinds of each."""
        about = self._kinds[:, kinds]
        shape = (-1, self._patch, len(kinds))
        told, seen, busy = (one.reshape(shape) for one in (departure, observed, activity))
        last = self._encoder.read(self._encoder.stacked(told, seen, busy, about))[-1]
        mean, log_variance = np.split(_layer(self._posterior, last), 2)
        log_variance = np.clip(log_variance, -2 * MOST_LOG_VARIANCE, MOST_LOG_VARIANCE)
        distance = (mean**2 + np.exp(log_variance) - 1 - log_variance).sum(axis=0) / 2
        steps = self._decoder.read(self._decoder.stacked(mean, busy, about))
        newest = self._newest
        unexplained = self._unexplained(steps[newest], told[newest], seen[newest])
        total: Singles = unexplained + distance / np.float32(len(departure))
        return total

    def _unexplained(self, steps: Singles, told: Singles, seen: Singles) -> Singles:
        middle, log_scale = np.split(_layer(self._likelihood, steps), 2, axis=1)
        log_scale = np.clip(log_scale, LOWEST_LOG_SCALE, HIGHEST_LOG_SCALE)
        error = (told - middle) * np.exp(-log_scale)
        surprise = (error * error * _HALF + log_scale) * seen
        shown: Singles = surprise.sum(axis=(0, 1)) / np.maximum(seen.sum(axis=(0, 1)), 1)
        return shown


def _layer(layer: tuple[Singles, Singles], inputs: Singles) -> Singles:
    weight, bias = layer
    outputs: Singles = weight @ inputs
    outputs += bias
    return outputs
