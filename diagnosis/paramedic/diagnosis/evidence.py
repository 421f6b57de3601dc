"""Evidence of oddness that adds up over slots, for all rows of one kind at once.

S = max(0, S + (oddness - allowance) / smoothing): oddness that is smoothed over n slots repeats
itself, so a slot of it counts for 1/n. A slot adds a limited amount, so that what lasts shortly is
not enough, however odd it is. Were healthy oddness exponential and new in every slot, S would
exceed h in a share of less than e^-h of all row-slots; how fast the tail of S really falls is
measured by how high it climbed before it came back to zero, and the level is as much higher as it
falls slower. What never comes back, which a fault does not, raises no level for itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey

SECONDS_PER_DAY = 86_400
_MARK = 1.0
"""The tail of S is measured from here on, in nats."""
_PRIOR_CLIMBS = 30.0
"""What is assumed of the tail counts as much as so many climbs beyond the mark."""
_CLIMBS_KEPT = 3000.0
"""Older ones are forgotten."""


def level_nats(false_alarms_per_job_day: float, tests: int, slot_seconds: int) -> float:
    """The level at which so many tests together give the stated rate, by an exponential tail.

    >>> round(level_nats(0.01, 512, 1), 1)
    22.2
    """
    slots = SECONDS_PER_DAY / slot_seconds * max(tests, 1)
    return math.log(slots / false_alarms_per_job_day)


@dataclass(slots=True)
class Tail:
    """By how many nats evidence that came back to zero had exceeded the mark, in the mean."""

    climbs: float = _PRIOR_CLIMBS
    excess: float = _PRIOR_CLIMBS

    @property
    def fold(self) -> float:
        """How many nats of evidence are e times as rare; 1 is what independence would give."""
        return max(1.0, self.excess / self.climbs)

    def learn(self, peaks: NDArray[np.float64]) -> None:
        """Take climbs in that are over."""
        beyond = peaks[peaks > _MARK] - _MARK
        self.climbs += beyond.size
        self.excess += float(beyond.sum())
        if self.climbs > _CLIMBS_KEPT:
            self.excess *= _CLIMBS_KEPT / self.climbs
            self.climbs = _CLIMBS_KEPT


class _Field(IntEnum):
    SCORE = 0
    SINCE = 1
    """The second in which the score left zero."""
    CALM = 2
    """Slots since the score is zero."""
    SEEN = 3
    """Slots in which the row was observed."""
    PEAK = 4
    """The highest score since it left zero."""


_ONE = ("evidence",)


@dataclass(slots=True)
class Evidence:
    """The scores of all rows."""

    tail: Tail = field(default_factory=Tail)
    _memory: CellMemory = field(default_factory=lambda: CellMemory(len(_Field)))

    @property
    def score(self) -> NDArray[np.float64]:
        """Nats by row."""
        return self._memory.line(_Field.SCORE)

    @property
    def since(self) -> NDArray[np.float64]:
        """When each row's evidence began (Unix seconds); means nothing where the score is 0."""
        return self._memory.line(_Field.SINCE)

    @property
    def calm_slots(self) -> NDArray[np.float64]:
        """How long each row has been without evidence."""
        return self._memory.line(_Field.CALM)

    def restart(self) -> None:
        """Nothing of before speaks of now."""
        if self._memory.cells.size:
            self._memory[_Field.SCORE][:] = self._memory[_Field.PEAK][:] = 0.0

    def add(
        self,
        rows: tuple[EntityKey, ...],
        second: int,
        gain: NDArray[np.float64],
        level: float,
        settle_slots: float,
    ) -> None:
        """Add a slot; NaN, which was not observed, adds nothing either way."""
        is_first = not self._memory.cells.size
        self._memory.arrange(rows, _ONE)
        if is_first:  # the job itself has been given time to settle
            self._memory.line(_Field.SEEN)[:] = settle_slots
        seen, score = self._memory.line(_Field.SEEN), self.score
        seen += ~np.isnan(gain)
        counted = np.where(np.isnan(gain) | (seen <= settle_slots), 0.0, gain)
        begins = (score == 0) & (counted > 0)
        self.since[begins] = second
        # Twice the level is kept at most, so that a row that recovers is clear in finite time.
        np.clip(score + counted, 0.0, 2 * level, out=score)
        calm = self.calm_slots
        calm += 1
        calm[score > 0] = 0
        peak = self._memory.line(_Field.PEAK)
        np.maximum(peak, score, out=peak)
        is_over = (score == 0) & (peak > 0)
        self.tail.learn(np.minimum(peak[is_over], level))
        peak[is_over] = 0.0
