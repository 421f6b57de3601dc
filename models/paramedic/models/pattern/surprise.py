"""A trained network at work: windows in, nats of surprise out, in batches on the CPU.

A window in which nothing departs while the job is as busy as usual is the commonest there is, and
what is said of it depends on nothing but its kind: it is read once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from paramedic.models.pattern.errors import ModelFitError
from paramedic.models.pattern.forward import ForwardPass
from paramedic.models.pattern.network import PatternNetwork
from paramedic.models.pattern.panels import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from paramedic.models.pattern.recent import Windows
    from paramedic.models.pattern.settings import PatternSettings

NETWORK = "network."
"""In front of the names of weights in an artifact."""
_BATCH = 256
"""Sequences at once: what a core's caches hold."""
_FEWEST_SEEN = 1 / 3
"""Windows of which less was observed say nothing."""


class Surprise:
    """Reads windows with the weights of an artifact. Raises ModelFitError when they do not fit."""

    def __init__(
        self, settings: PatternSettings, tensors: Mapping[str, NDArray[np.float32]]
    ) -> None:
        weights = {
            name.removeprefix(NETWORK): np.array(value, np.float32)
            for name, value in tensors.items()
            if name.startswith(NETWORK)
        }
        try:
            PatternNetwork(settings).load_state_dict(
                {name: torch.from_numpy(value) for name, value in weights.items()}
            )
        except RuntimeError as error:
            why = " ".join(str(error).split())
            raise ModelFitError(f"weights do not fit the model's settings: {why}") from error
        self._pass = ForwardPass(
            weights, settings.patch_slots, settings.newest_slots // settings.patch_slots
        )
        calm = np.zeros((settings.window_slots, KINDS), np.float32)
        self._of_calm = self._pass(calm, calm + 1, calm + 1, np.arange(KINDS))
        """By kind, of windows in which nothing departs."""

    def of(self, windows: Windows, kinds: NDArray[np.int64]) -> NDArray[np.float32]:
        """Nats a slot of each sequence; NaN where too little was observed."""
        departure, observed, activity = (
            one.T for one in (windows.departure, windows.observed, windows.activity)
        )
        seen = observed.mean(axis=0, dtype=np.float32)
        is_calm = (seen == 1) & (departure == 0).all(axis=0) & (activity == 1).all(axis=0)
        found = np.where(is_calm, self._of_calm[kinds], np.float32(np.nan))
        told = np.flatnonzero(~is_calm & (seen >= _FEWEST_SEEN))
        for begin in range(0, len(told), _BATCH):
            at = told[begin : begin + _BATCH]
            found[at] = self._pass(departure[:, at], observed[:, at], activity[:, at], kinds[at])
        return found


def weights_of(network: PatternNetwork) -> dict[str, NDArray[np.float32]]:
    """A network's weights as an artifact keeps them."""
    return {
        NETWORK + name: value.detach().cpu().numpy().astype(np.float32)
        for name, value in network.state_dict().items()
    }
