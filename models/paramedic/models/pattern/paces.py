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

    Singles = NDArray[np.float32]

_LEAST_USUAL = 0.7
"""Of what white noise would give."""
_LARGEST_GROWTH = 2.0


class PacedMeans:
    """Running means of departures, each in units of what is usual among the rows."""

    def __init__(
        self, paces: Sequence[int], shape: tuple[int, int], block_slots: int, memory_blocks: int
    ) -> None:
        weights = (1 / np.array(paces, np.float64))[:, None, None]
        self._weights = weights.astype(np.float32)
        self._unit = np.sqrt(2 / weights - 1).astype(np.float32)
        self._kept, self._faded = 1 - self._weights, 1 - self._weights / 2
        self._means = np.zeros((len(paces), *shape), np.float32)
        self._usual = np.ones((len(paces), shape[0], 1), np.float32)
        self._block_slots, self._memory_blocks = block_slots, memory_blocks
        self._slots = 0

    def advance(self, departures: Singles) -> Singles:
        """(slots, metrics, rows) to (slots, paces, metrics, rows).

        What is not observed fades, at half the pace.
        """
        paced = np.empty((len(departures), *self._means.shape), np.float32)
        begin = 0
        while begin < len(departures):
            room = self._block_slots - self._slots % self._block_slots
            here = slice(begin, begin + room)
            self._within_block(departures[here], paced[here])
            begin += room
        return paced

    def _within_block(self, departures: Singles, paced: Singles) -> None:
        """Fill `paced` with the means, slot after slot, then bring them to their units."""
        unknown = np.isnan(departures)
        is_holed = bool(unknown.any())
        known = np.where(unknown, np.float32(0), departures) if is_holed else departures
        np.multiply(known[:, None], self._weights, out=paced)
        faded = np.empty_like(self._means)
        for slot, now in enumerate(paced):
            kept = np.where(unknown[slot], self._faded, self._kept) if is_holed else self._kept
            np.multiply(self._means, kept, out=faded)
            np.add(now, faded, out=now)
            self._means = now
        self._means = self._means.copy()
        np.multiply(paced, self._unit / self._usual, out=paced)
        self._slots += len(departures)
        if self._slots % self._block_slots == 0:
            self._learn(np.where(unknown[-1], np.float32(np.nan), self._means * self._unit))

    def _learn(self, means: Singles) -> None:
        now = usual_spread(np.abs(means))
        believed = np.clip(np.nan_to_num(now, nan=1.0), _LEAST_USUAL, _LARGEST_GROWTH * self._usual)
        blocks = self._slots // self._block_slots
        weight = 1 / min(blocks + _BLOCKS_OF_DOUBT, self._memory_blocks)
        self._usual = self._usual + weight * (believed - self._usual)


_BLOCKS_OF_DOUBT = 6
"""So many blocks it is believed that noise is white."""
