"""Floors that do not look: what any score can be had for."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from paramedic.models.rivals.floor import NothingToLearn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.models.rivals.machine_level import MachineLevel


class RandomScores(NothingToLearn):
    """Draws a score: a threshold of 6 is passed once in 10⁶ draws."""

    def score(self, level: MachineLevel) -> NDArray[np.float64]:
        """The same for the same job and beginning, however much of it there is."""
        seed = (crc32(level.job.encode()), level.seconds.start)
        draws = np.random.default_rng(seed).random((len(level.seconds), len(level.nodes)))
        return -np.log10(1.0 - draws)


class AlwaysTheFirst(NothingToLearn):
    """Accuses the first machine by name, every ten minutes."""

    every_seconds = 600

    def score(self, level: MachineLevel) -> NDArray[np.float64]:
        """One for the first machine when it is time."""
        scores = np.zeros((len(level.seconds), len(level.nodes)))
        due = np.array(level.seconds, np.int64) % self.every_seconds < level.seconds.step
        scores[due, :1] = 1.0
        return scores
