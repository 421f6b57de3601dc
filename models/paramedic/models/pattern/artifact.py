"""A trained pattern model as data: what is stored, shipped, compared and loaded.

Numbers and names alone, so that no code is loaded with a model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True)
class PatternArtifact:
    """What training leaves behind; the registry writes it as safetensors and a manifest."""

    settings: Mapping[str, int | float | str]
    """The network's sizes and the features' settings; enough to build the network again."""
    tensors: Mapping[str, NDArray[np.float32]]
    """Weights and calibration tables, by name."""
    metrics: tuple[str, ...]
    """Canonical ids that it was trained on, sorted."""
    fingerprint: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """For each metric the quantiles of its input and of its score in training, as
    `input_q05`, `score_q99`, …: what drift is measured against."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """What training measured of itself."""

    def digest(self) -> str:
        """SHA-256 of everything that decides what the model says; equal models, equal digests."""
        content = sha256()
        content.update(repr((sorted(self.settings.items()), self.metrics)).encode())
        for name in sorted(self.tensors):
            tensor = np.ascontiguousarray(self.tensors[name], np.float32)
            content.update(f"{name}{tensor.shape}".encode())
            content.update(tensor.tobytes())
        return content.hexdigest()
