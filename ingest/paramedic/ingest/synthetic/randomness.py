"""Random numbers that depend on what they are for and on when, and never on what was asked before.

A Philox generator is keyed by (seed, stream) and its counter by the moment, so that any second of
any stream can be drawn at any time, in any order, with the same result.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from paramedic.ingest.synthetic.errors import ClusterSettingError

_WORD = 2**64


class Stream(IntEnum):
    """What the numbers are for; a new use takes a new member, so that old ones stay as they are."""

    INDIVIDUALS = 1
    """How healthy machines differ; drawn once."""
    STEP = 2
    """Work of each rank in a step; the moment is the step's number."""
    HOST = 3
    SILICON = 4
    NETWORK = 5
    RANKS = 6
    CONGESTION = 7
    SWITCH_CONGESTION = 8
    DATA_STALL = 9
    HOST_BUSY = 10
    GLITCH = 11
    LOST_SCRAPE = 12
    EXPORTER_RESTART = 13
    ARRIVAL = 14
    CLOCKS = 15
    IDENTITY = 16
    ERRORS = 17
    """Countable mishaps of hardware: corrected memory errors, link replays."""
    MISSING = 18
    """What of an episode was not collected."""
    ERROR_BURST = 19
    WANDERING = 20
    HOST_REGIME = 21
    LONE_XID = 22


class Dice:
    """Gives the generator of a stream at a moment."""

    def __init__(self, seed: int) -> None:
        if not 0 <= seed < _WORD:
            raise ClusterSettingError(f"seed = {seed}: must be between 0 and 2**64 - 1")
        self._seed = seed

    def at(self, stream: Stream, moment: int) -> np.random.Generator:
        """A fresh generator; the same arguments give the same numbers."""
        key = np.array((self._seed, stream), dtype=np.uint64)
        counter = np.array((0, 0, 0, moment % _WORD), dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=key, counter=counter))
