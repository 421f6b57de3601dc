"""Windows to train on: a few of every history, and the limits of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.minder.alignment import Aligned
from paramedic.models.minder.metrics import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from paramedic.models.rivals.machine_level import MachineLevel

_WINDOWS_A_HISTORY = 2000
_WINDOWS = 16_000


@dataclass(frozen=True, slots=True)
class Samples:
    """Windows in their metrics' own units."""

    limits: Limits
    windows: NDArray[np.float32]
    """(samples, 7, 8)."""

    @classmethod
    def of(cls, levels: Iterable[MachineLevel]) -> Samples:
        """Spread evenly over histories, their time and their machines."""
        limits = Limits.nothing_seen()
        parts: list[NDArray[np.float32]] = []
        for level in levels:
            limits = limits.with_seen(level)
            parts.append(_some(level))
        drawn = np.concatenate(parts) if parts else np.empty((0, 7, 8), np.float32)
        order = np.random.default_rng(0).permutation(len(drawn))[:_WINDOWS]
        return cls(limits, drawn[order])

    def scaled(self) -> NDArray[np.float32]:
        """The windows within the limits."""
        by_metric = self.windows.astype(np.float64).transpose(0, 2, 1)
        return self.limits.scaled(by_metric).transpose(0, 2, 1)


def _some(level: MachineLevel) -> NDArray[np.float32]:
    aligned = Aligned.of(level.values.astype(np.float32))
    number = max(1, _WINDOWS_A_HISTORY // max(1, len(level.nodes)))
    if not aligned.windows:
        return np.empty((0, *level.values.shape[2:], 8), np.float32)
    chosen = np.unique(np.linspace(0, aligned.windows - 1, number).astype(np.int64))
    windows = aligned.seen_at(chosen, chosen + 7)
    return windows.reshape(-1, *windows.shape[2:])
