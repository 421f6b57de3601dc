"""What machines are compared by: the windows' reconstructions, or the windows as they are.

An encoder makes one or several tracks of a block of windows. Each track is judged by itself, in
the order of priority: seven where every metric has its own, one where they are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch

from paramedic.models.minder.fitting import FitSettings, fit
from paramedic.models.minder.metrics import SEVEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from paramedic.models.minder.network import LstmVae


class Encoder(Protocol):
    """Turns scaled windows into vectors."""

    tracks: int

    def train(self, samples: NDArray[np.float32]) -> None:
        """Learn from (samples, 7, 8). Of detectors that share an encoder the first trains it."""
        ...

    def encode(self, windows: NDArray[np.float32]) -> Iterator[Tensor]:
        """Each track's (windows, nodes, features) of (windows, nodes, 7, 8); NaN stays NaN."""
        ...


class RawWindows:
    """No network: the paper's RAW."""

    tracks = len(SEVEN)

    def train(self, samples: NDArray[np.float32]) -> None:
        """Nothing to learn."""

    def encode(self, windows: NDArray[np.float32]) -> Iterator[Tensor]:
        """The windows, metric by metric."""
        yield from torch.from_numpy(windows).unbind(dim=2)


class VaePerMetric:
    """One network for each metric: Minder itself."""

    tracks = len(SEVEN)

    def __init__(self, settings: FitSettings | None = None) -> None:
        self._settings = settings or FitSettings()
        self._networks: tuple[LstmVae | None, ...] = ()

    def train(self, samples: NDArray[np.float32]) -> None:
        """Fit the networks of the metrics that were observed."""
        if not self._networks:
            self._networks = tuple(
                _fitted(samples[:, [metric]], self._settings) for metric in range(self.tracks)
            )

    def encode(self, windows: NDArray[np.float32]) -> Iterator[Tensor]:
        """Reconstructions; a metric that training has not seen is passed through."""
        for metric in range(self.tracks):
            network = self._networks[metric] if self._networks else None
            yield _reconstructed(network, windows[:, :, [metric]])


class ConcatenatedVae:
    """The reconstructions of all metrics side by side: the paper's CON."""

    tracks = 1

    def __init__(self, each: VaePerMetric) -> None:
        self._each = each

    def train(self, samples: NDArray[np.float32]) -> None:
        """Fit the networks of the metrics."""
        self._each.train(samples)

    def encode(self, windows: NDArray[np.float32]) -> Iterator[Tensor]:
        """One vector of 56 numbers."""
        yield torch.cat(list(self._each.encode(_without_absent(windows))), dim=-1)


class VaeForAll:
    """One network for all metrics together: the paper's INT."""

    tracks = 1

    def __init__(self, settings: FitSettings | None = None) -> None:
        self._settings = settings or FitSettings()
        self._network: LstmVae | None = None

    def train(self, samples: NDArray[np.float32]) -> None:
        """Fit the network; a metric that was never observed is zero in it."""
        if self._network is None:
            self._network = _fitted(_without_absent(samples[:, None])[:, 0], self._settings)

    def encode(self, windows: NDArray[np.float32]) -> Iterator[Tensor]:
        """One vector of 56 numbers."""
        yield _reconstructed(self._network, _without_absent(windows))


def _fitted(samples: NDArray[np.float32], settings: FitSettings) -> LstmVae | None:
    """A network for (samples, metrics, 8); None where nothing was observed."""
    whole = samples[~np.isnan(samples).any(axis=(1, 2))]
    if len(whole) <= 1:
        return None
    return fit(torch.from_numpy(np.ascontiguousarray(whole.transpose(2, 1, 0))), settings)


def _reconstructed(network: LstmVae | None, windows: NDArray[np.float32]) -> Tensor:
    """(windows, nodes, metrics × 8) of (windows, nodes, metrics, 8)."""
    count, nodes, metrics, samples = windows.shape
    flat = torch.from_numpy(windows).reshape(count * nodes, metrics, samples)
    if network is not None:
        with torch.inference_mode():
            made = network(flat.permute(2, 1, 0).contiguous()).windows
        flat = made.permute(2, 1, 0)
    return flat.reshape(count, nodes, metrics * samples)


def _without_absent(windows: NDArray[np.float32]) -> NDArray[np.float32]:
    """A metric of which no machine has anything in a window is no reason to know none of them."""
    absent = np.isnan(windows).all(axis=(1, 3), keepdims=True)
    return np.where(absent, np.float32(0.0), windows)
