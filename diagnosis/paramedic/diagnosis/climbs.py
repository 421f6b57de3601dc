"""How high the evidence of healthy rows climbs, and which level is reached as rarely as stated.

Evidence that came back to zero was none: each such climb is counted by how high it came. Beyond a
high mark the excess of such peaks is exponential, whatever they are (Pickands 1975, Balkema and de
Haan 1974, for tails that are not heavier); so with r peaks beyond the mark M in a row-slot, and a
mean excess s, a level h is passed in r e^(-(h - M) / s) of all row-slots. What never comes back,
which a fault does not, raises no level for itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EDGES: NDArray[np.float64] = np.power(1.06, np.arange(140))
"""Heights that are told apart, from 1 nat on."""
_MIDDLES = _EDGES * 1.03
_MARK_QUANTILE = 0.9
_PRIOR_CLIMBS = 30.0
"""What is assumed of the tail, that it is exponential, counts as so many climbs beyond a nat."""
_MOST_TRUSTED = 2.0
_CLIMBS_KEPT = 3000.0
"""Of more climbs the older ones are forgotten."""


def _prior() -> NDArray[np.float64]:
    lasting = np.exp(1.0 - _EDGES)
    counts: NDArray[np.float64] = _PRIOR_CLIMBS * (lasting - np.append(lasting[1:], 0.0))
    return counts


@dataclass(frozen=True, slots=True)
class _Heights:
    """What counts of peaks say of the tail."""

    mark: float
    beyond: float
    """How many peaks came higher."""
    excess: float
    """By how much, in the mean."""
    thickness: float
    """The mean height of all climbs above a nat."""

    @classmethod
    def of(cls, counts: NDArray[np.float64]) -> _Heights:
        beyond = np.cumsum(counts[::-1])[::-1]
        at = int(np.searchsorted(-beyond, -(1 - _MARK_QUANTILE) * beyond[0], side="right")) - 1
        mark, peaks = float(_EDGES[at]), counts[at:]
        excess = float((peaks * (_MIDDLES[at:] - mark)).sum() / beyond[at])
        thickness = float((counts * (_MIDDLES - _EDGES[0])).sum() / beyond[0])
        return cls(mark, float(beyond[at]), excess, thickness)


@dataclass(slots=True)
class Climbs:
    """Peaks by height, and in how many row-slots they came."""

    counts: NDArray[np.float64] = field(default_factory=_prior)
    row_slots: float = _PRIOR_CLIMBS * math.e
    _heights: _Heights | None = None
    """Of the counts as they are."""

    def live(self, row_slots: int) -> None:
        """So many row-slots have gone by."""
        self.row_slots += row_slots

    def learn(self, peaks: NDArray[np.float64]) -> None:
        """Climbs that are over, by the highest that each came to."""
        high = peaks[peaks >= _EDGES[0]]
        if not high.size:
            return
        self._heights = None
        np.add.at(self.counts, np.searchsorted(_EDGES, high, side="right") - 1, 1.0)
        total = self.counts.sum()
        if total > _CLIMBS_KEPT:
            self.counts *= _CLIMBS_KEPT / total
            self.row_slots *= _CLIMBS_KEPT / total

    def level(self, rarity_nats: float) -> float:
        """What is passed in e^-rarity of all row-slots.

        No higher than an exponential tail as thick as that of all climbs would have it, as the few
        highest of a young job tell little; and no lower than for independent slots, nor than twice
        that where climbs are so thick.
        """
        if self._heights is None:
            self._heights = _Heights.of(self.counts)
        heights = self._heights
        rate = heights.beyond / self.row_slots
        over_mark = max(1.0, heights.excess) * (rarity_nats + math.log(min(rate, 1.0)))
        from_mark = heights.mark + over_mark
        most = rarity_nats * max(heights.thickness, 1.0)
        return max(min(most, _MOST_TRUSTED * rarity_nats), min(most, from_mark))
