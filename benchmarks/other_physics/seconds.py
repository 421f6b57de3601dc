"""What every rank did in every second, added up from intervals in event time."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from benchmarks.other_physics.job import Floats, Indices

_ROUNDING = 1e-9


class Doing(IntEnum):
    """What is added up. The first six are seconds of time, the others amounts."""

    LOAD = 0
    COMPUTE = 1
    WAIT = 2
    """In a collective, for somebody who is not there yet."""
    SHARE = 3
    """In a collective between the GPUs of a node."""
    REDUCE = 4
    """In a collective between nodes."""
    OPTIMIZE = 5
    WORK = 6
    """Seconds that the computing would have taken undisturbed."""
    SHARED = 7
    """Undisturbed seconds of the node's collectives: what bytes are counted by."""
    REDUCED = 8
    COPIED = 9
    """Undisturbed seconds of copying between host and GPU."""
    FELL_BACK = 10
    """Undisturbed seconds of work that slower units than the tensor cores did."""


class SecondBins:
    """Adds intervals, each rank's own, into bins of a second."""

    def __init__(self, seconds: int, ranks: int) -> None:
        self.seconds = seconds
        self._slopes = np.zeros((len(Doing), seconds + 2, ranks))

    def add(
        self,
        doing: Doing,
        ranks: Indices,
        begin: Floats,
        end: Floats,
        rate: Floats | float = 1.0,
    ) -> None:
        """From `begin` to `end` (seconds since the start) these ranks, each once, did it."""
        slopes = self._slopes[doing]
        for times, signed in ((begin, rate), (end, np.negative(rate))):
            inside = np.clip(times, 0.0, self.seconds)
            whole = inside.astype(np.int64)
            fraction = inside - whole
            # A ramp that starts within a bin gives it the rest of the bin, and each later one all.
            slopes[whole, ranks] += signed * (1.0 - fraction)
            slopes[whole + 1, ranks] += signed * fraction

    def totals(self) -> Floats:
        """Per thing done, second and rank."""
        sums = np.cumsum(self._slopes, axis=1)[:, : self.seconds]
        return np.where(sums > _ROUNDING, sums, 0.0)
