"""A trained network at work: windows in, nats of surprise out, in batches on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from paramedic.models.pattern.errors import ModelFitError
from paramedic.models.pattern.network import PatternNetwork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from paramedic.models.pattern.recent import Windows
    from paramedic.models.pattern.settings import PatternSettings

NETWORK = "network."
"""In front of the names of weights in an artifact."""
_BATCH = 2048
"""Sequences at once: what a core's caches hold."""
_FEWEST_SEEN = 1 / 3
"""Windows of which less was observed say nothing."""


class Surprise:
    """Reads windows with the weights of an artifact. Raises ModelFitError when they do not fit."""

    def __init__(
        self, settings: PatternSettings, tensors: Mapping[str, NDArray[np.float32]]
    ) -> None:
        self._network = PatternNetwork(settings)
        weights = {
            name.removeprefix(NETWORK): torch.from_numpy(np.array(value))
            for name, value in tensors.items()
            if name.startswith(NETWORK)
        }
        try:
            self._network.load_state_dict(weights)
        except RuntimeError as error:
            why = " ".join(str(error).split())
            raise ModelFitError(f"weights do not fit the model's settings: {why}") from error
        self._network.eval()

    def of(self, windows: Windows, kinds: NDArray[np.int64]) -> NDArray[np.float32]:
        """Nats a slot of each sequence; NaN where too little was observed."""
        found = np.full(len(windows), np.nan, np.float32)
        enough = np.flatnonzero(windows.observed.mean(axis=1) >= _FEWEST_SEEN)
        with torch.inference_mode():
            for begin in range(0, len(enough), _BATCH):
                at = enough[begin : begin + _BATCH]
                inputs = (windows.departure[at], windows.observed[at], windows.activity[at])
                surprise = self._network(
                    *(torch.from_numpy(one) for one in inputs), torch.from_numpy(kinds[at])
                )
                found[at] = surprise.numpy()
        return found


def weights_of(network: PatternNetwork) -> dict[str, NDArray[np.float32]]:
    """A network's weights as an artifact keeps them."""
    return {
        NETWORK + name: value.detach().cpu().numpy().astype(np.float32)
        for name, value in network.state_dict().items()
    }
