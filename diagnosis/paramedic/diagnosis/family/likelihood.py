"""What knowledge alone says: how well each family explains the symptoms.

A family is a mixture of the ways in which its mechanisms look, alone or two together, and in each
way every symptom is seen with a probability of its own, whatever else is seen. A symptom that is
seen with certainty x counts as x·p + (1 − x)·(1 − p); one that cannot be seen counts for nothing
either way.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.family.knowledge import Family, Knowledge
    from paramedic.diagnosis.family.signature import Extent

_MISJUDGED = 0.25
"""How often it is chance how many cards seem to depart: traffic comes in bursts."""
_TOGETHER = 0.3
"""How often two mechanisms of a fault show at once."""


class Likelihood:
    """Knowledge as arrays."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._families = knowledge.families
        self._looks = [looks_of(family, knowledge) for family in knowledge.families]

    def log_scores(self, seen: NDArray[np.float64], extent: Extent) -> NDArray[np.float64]:
        """ln P(symptoms, extent | family), for each family; what is seen as `symptoms` gives it."""
        x = np.where(np.isnan(seen), 0.5, seen)  # the same for every family
        return np.array([
            np.logaddexp.reduce(
                np.log(looks.weights)
                + np.log(looks.shown * x + (1.0 - looks.shown) * (1.0 - x)).sum(axis=1)
            )
            + np.log(_taken_for(family, extent))
            for family, looks in zip(self._families, self._looks, strict=True)
        ])  # fmt: skip


def _taken_for(family: Family, extent: Extent) -> float:
    """How often the family is taken for one of this extent."""
    return (1.0 - _MISJUDGED) * family.extents[extent] + _MISJUDGED / len(family.extents)


class Looks(NamedTuple):
    """All ways in which a fault may look."""

    weights: NDArray[np.float64]
    shown: NDArray[np.float64]
    """(ways, symptoms): the probability of each symptom."""


def looks_of(family: Family, knowledge: Knowledge) -> Looks:
    """The ways of each mechanism, and of each two mechanisms together."""
    ways = [
        (at, weight, np.array([shows.get(one.name, one.usual) for one in knowledge.symptoms]))
        for at, mechanism in enumerate(family.mechanisms)
        for weight, shows in mechanism.ways
    ]
    pairs = [
        (2.0 * first[1] * second[1], 1.0 - (1.0 - first[2]) * (1.0 - second[2]))
        for first, second in combinations(ways, 2)
        if first[0] != second[0]
    ]
    alone = np.array([weight for _, weight, _ in ways])
    both = np.array([weight for weight, _ in pairs])
    if pairs:
        alone, both = alone * (1.0 - _TOGETHER), both * (_TOGETHER / both.sum())
    shown = [shows for _, _, shows in ways] + [shows for _, shows in pairs]
    return Looks(np.concatenate([alone, both]), np.array(shown))


def log_shares(knowledge: Knowledge, power: float = 1.0) -> NDArray[np.float64]:
    """ln of the families' shares; a power below 1 makes them more alike."""
    shares = np.array([family.share for family in knowledge.families]) ** power
    logarithms: NDArray[np.float64] = np.log(shares / shares.sum())
    return logarithms
