"""Departures at several paces: a loud one is seen at once, a quiet one when it has lasted.

How much a running mean usually differs between the rows of this very job is learnt as it goes:
noise that comes in long waves does not average out, and only the job can tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.pattern.spread import usual_spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_LEAST_USUAL = 0.7
"""Of what white noise would give."""
_LARGEST_GROWTH = 2.0


class PacedMeans:
    """Running means of departures, each in units of what is usual among the rows."""

    def __init__(
        self, paces: Sequence[int], shape: tuple[int, int], block_slots: int, memory_blocks: int
    ) -> None:
        self._weights = (1 / np.array(paces, np.float64))[:, None, None]
        self._unit = np.sqrt(2 / self._weights - 1)
        self._fading = 1 - self._weights / 2
        self._means = np.zeros((len(paces), *shape))
        self._usual = np.ones((len(paces), shape[0], 1))
        self._block_slots, self._memory_blocks = block_slots, memory_blocks
        self._slots = 0

    def advance(self, departures: Floats) -> Floats:
        """(slots, metrics, rows) to (slots, paces, metrics, rows).

        What is not observed fades, at half the pace.
        """
        paced = np.empty((len(departures), *self._means.shape))
        for slot, now in enumerate(departures):
            means = self._means
            moved = means + self._weights * (now - means)
            self._means = np.where(np.isnan(now), means * self._fading, moved)
            paced[slot] = self._means * (self._unit / self._usual)
            self._slots += 1
            if self._slots % self._block_slots == 0:
                self._learn(np.where(np.isnan(now), np.nan, self._means * self._unit))
        return paced

    def _learn(self, means: Floats) -> None:
        now = usual_spread(np.abs(means))
        believed = np.clip(np.nan_to_num(now, nan=1.0), _LEAST_USUAL, _LARGEST_GROWTH * self._usual)
        blocks = self._slots // self._block_slots
        weight = 1 / min(blocks + _BLOCKS_OF_DOUBT, self._memory_blocks)
        self._usual = self._usual + weight * (believed - self._usual)


_BLOCKS_OF_DOUBT = 6
"""So many blocks it is believed that noise is white."""
