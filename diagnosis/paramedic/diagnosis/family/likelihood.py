"""What knowledge alone says: how well each family explains the symptoms.

A family is a mixture of the ways in which its mechanisms look, alone or two together, and in each
way every symptom is seen with a probability of its own, whatever else is seen. A symptom that is
seen with certainty x counts as x·p + (1 − x)·(1 − p); one that cannot be seen counts for nothing
either way.

Nobody is accused of what nobody sees: a way in which the fault would show in nothing that is seen,
and chance in all of it, is hardly what the machine was accused of. So a fault whose counters nobody
exports, or whose counters are silent, needs something else of its own.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paramedic.diagnosis.contract import Fault

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.family.knowledge import Family, Knowledge
    from paramedic.diagnosis.family.signature import Extent

_MISJUDGED = 0.25
"""How often it is chance how many cards seem to depart: traffic comes in bursts."""
_TOGETHER = 0.3
"""How often two mechanisms of a fault show at once."""
_BY_CHANCE = 0.02
"""How often a machine is accused of what has nothing to do with its fault."""
_ALL = 1.0 - 1e-9


class Likelihood:
    """Knowledge as arrays."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._families = knowledge.families
        self._looks = [looks_of(family, knowledge) for family in knowledge.families]

    def log_scores(self, seen: NDArray[np.float64], extent: Extent) -> NDArray[np.float64]:
        """ln P(symptoms, extent | family), for each family; what is seen as `symptoms` gives it."""
        x = np.where(np.isnan(seen), 0.5, seen)  # the same for every family
        return np.array([
            np.logaddexp.reduce(np.log(looks.weights) + _explained(looks, x, seen))
            + np.log(_taken_for(family, extent))
            for family, looks in zip(self._families, self._looks, strict=True)
        ])  # fmt: skip


def _explained(
    looks: Looks, x: NDArray[np.float64], seen: NDArray[np.float64]
) -> NDArray[np.float64]:
    """ln P(symptoms | way), less most of what is so by chance alone, for each way."""
    shown = np.log(looks.shown * x + (1.0 - looks.shown) * (1.0 - x)).sum(axis=1)
    by_chance = (1.0 - looks.own) * (looks.usual * x + (1.0 - looks.usual) * (1.0 - x))
    by_chance = np.log(np.where(np.isnan(seen), 0.5, by_chance)).sum(axis=1)
    explained: NDArray[np.float64] = shown + np.log1p(
        -(1.0 - _BY_CHANCE) * np.exp(by_chance - shown)
    )
    return explained


def _taken_for(family: Family, extent: Extent) -> float:
    """How often the family is taken for one of this extent."""
    return (1.0 - _MISJUDGED) * family.extents[extent] + _MISJUDGED / len(family.extents)


class Looks(NamedTuple):
    """All ways in which a fault may look."""

    weights: NDArray[np.float64]
    shown: NDArray[np.float64]
    """(ways, symptoms): the probability of each symptom."""
    own: NDArray[np.float64]
    """How much of it comes of the fault; what is unknown explains nothing and need not."""
    usual: NDArray[np.float64]
    """And how much comes by chance."""


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
    shown = np.array([shows for _, _, shows in ways] + [shows for _, shows in pairs])
    usual = np.minimum(shown, [one.usual for one in knowledge.symptoms])
    is_unknown = family.fault is Fault.UNKNOWN
    own = np.full_like(shown, _ALL) if is_unknown else 1.0 - (1.0 - shown) / (1.0 - usual)
    return Looks(np.concatenate([alone, both]), shown, own, usual)


def log_shares(knowledge: Knowledge, power: float = 1.0) -> NDArray[np.float64]:
    """ln of the families' shares; a power below 1 makes them more alike."""
    shares = np.array([family.share for family in knowledge.families]) ** power
    logarithms: NDArray[np.float64] = np.log(shares / shares.sum())
    return logarithms
