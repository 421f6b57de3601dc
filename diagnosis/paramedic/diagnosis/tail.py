"""How fast the tail of evidence falls that healthy things bring about, measured as it is gathered.

Evidence that came back to zero was none. By how much such climbs exceeded a mark tells how many
nats of it are e times as rare; a level that follows from an exponential tail has to be so many
times as high. What never comes back, which a fault does not, raises no level for itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MARK = 1.0
"""The tail is measured from here on, in nats."""
_PRIOR_CLIMBS = 30.0
"""What is assumed of the tail counts as much as so many climbs beyond the mark."""
_CLIMBS_KEPT = 3000.0


@dataclass(slots=True)
class Tail:
    """By how many nats evidence that came back to zero had exceeded the mark, in the mean."""

    climbs: float = _PRIOR_CLIMBS
    excess: float = _PRIOR_CLIMBS
    climbs_kept: float = _CLIMBS_KEPT
    """Of more climbs the older ones are forgotten."""

    @property
    def fold(self) -> float:
        """How many nats of evidence are e times as rare; 1 is what independence would give."""
        return max(1.0, self.excess / self.climbs)

    def learn(self, peaks: NDArray[np.float64]) -> None:
        """Take climbs in that are over, by the highest that each came to."""
        beyond = peaks[peaks > _MARK] - _MARK
        self.climbs += beyond.size
        self.excess += float(beyond.sum())
        if self.climbs > self.climbs_kept:
            self.excess *= self.climbs_kept / self.climbs
            self.climbs = self.climbs_kept
