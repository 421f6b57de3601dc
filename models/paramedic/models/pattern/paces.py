"""Departures at several paces: a loud one is seen at once, a quiet one when it has lasted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class PacedMeans:
    """Running means of departures, each in units of its own standard deviation in white noise."""

    def __init__(self, paces: Sequence[int], shape: tuple[int, int]) -> None:
        self._weights = (1 / np.array(paces, np.float64))[:, None, None]
        self._unit = np.sqrt(2 / self._weights - 1)
        self._fading = 1 - self._weights / 2
        self._means = np.zeros((len(paces), *shape))

    def advance(self, departures: Floats) -> Floats:
        """(slots, metrics, rows) to (slots, paces, metrics, rows).

        What is not observed fades, at half the pace.
        """
        paced = np.empty((len(departures), *self._means.shape))
        for slot, now in enumerate(departures):
            means = self._means
            moved = means + self._weights * (now - means)
            self._means = np.where(np.isnan(now), means * self._fading, moved)
            paced[slot] = self._means
        paced *= self._unit
        return paced
