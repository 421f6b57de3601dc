"""Things that happen now and then: which of them go on in a second, whatever was asked before.

Time is cut into blocks; each block's occasions are drawn from the block's own random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from paramedic.ingest.synthetic.randomness import Dice, Stream

_BLOCK_SECONDS = 128
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Occasion:
    """One happening at one place."""

    place: int
    start: int
    end: int
    luck: float
    """Uniform between 0 and 1: how bad, or which kind."""


class Occasions:
    """All happenings of one kind."""

    def __init__(
        self,
        dice: Dice,
        stream: Stream,
        places: int,
        per_place_day: float,
        seconds: tuple[int, int],
    ) -> None:
        self._dice = dice
        self._stream = stream
        self._places = places
        self._mean = per_place_day * places * _BLOCK_SECONDS / _DAY_SECONDS
        self._shortest, self._longest = seconds
        self._reach = -(-self._longest // _BLOCK_SECONDS)
        self._block = lru_cache(maxsize=self._reach + 2)(self._draw)

    def going_on(self, second: int) -> list[Occasion]:
        """The occasions of this second, in a stable order."""
        if self._mean == 0.0:
            return []
        block = second // _BLOCK_SECONDS
        near = range(max(0, block - self._reach), block + 1)
        return [one for b in near for one in self._block(b) if one.start <= second < one.end]

    def _draw(self, block: int) -> tuple[Occasion, ...]:
        rng = self._dice.at(self._stream, block)
        number = int(rng.poisson(self._mean))
        places = rng.integers(0, self._places, number).tolist()
        starts = (block * _BLOCK_SECONDS + rng.integers(0, _BLOCK_SECONDS, number)).tolist()
        lengths = rng.integers(self._shortest, self._longest + 1, number).tolist()
        luck = rng.uniform(0.0, 1.0, number).tolist()
        drawn = zip(places, starts, lengths, luck, strict=True)
        return tuple(Occasion(p, start, start + length, u) for p, start, length, u in drawn)
