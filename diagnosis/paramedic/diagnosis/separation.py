"""Culprit or victim: does anybody else depart in the same way?

In a synchronous job everybody waits for a slow machine, and those that share a stage with it wait
alike: they depart from the rest of the job as a block, and can be as far out as the culprit. What
tells the culprit is that it stands apart from its block too. So a suspect is measured by its
distance from the other node that comes nearest to it, not from the middle of all. Whoever shows
what waiting brings about in nobody is no victim, however many others show the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.excuses import Excuse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from paramedic.models.circles import Circles

_APART = 0.5
"""Who is this share of its own departure away from its neighbour does not belong to it."""
_SAME_WAY = 0.8
"""The cosine of the angle between two departures of one kind."""
_AS_SURE = 0.6
_LARGEST_SET = 3
"""So many alike nodes without anybody who stands apart have the same fault; more are a block of
victims whose culprit shows nothing."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A node with evidence against it, by its row that is farthest out."""

    circle: int
    """The node's number."""
    at: int
    """The row's position."""
    departure: float
    """How far out the row is."""
    separation: float
    """How far it is from the other node that is nearest to it."""
    is_sick: bool = False
    """Whether it shows what nobody shows who only waits."""

    @property
    def stands_apart(self) -> bool:
        """Whether it is no part of a block."""
        return self.separation >= _APART * self.departure


class Picture:
    """What all rows and nodes of one slot look like; distances are in standard deviations."""

    def __init__(self, deviations: NDArray[np.float64], nodes: Circles) -> None:
        """`deviations` is (row, metric); what is not known counts as none."""
        self._rows = np.where(np.isnan(deviations), 0.0, deviations)
        self._nodes = nodes
        self._middles = nodes.middles(self._rows)

    def suspect(self, circle: int) -> Suspect:
        """A node as it stands to all others."""
        members = self._nodes.members(circle)
        away = _size(self._rows[members])
        at = int(members[int(away.argmax())])
        others = _size(self._middles - self._rows[at])
        others[circle] = np.inf
        return Suspect(circle, at, float(away.max()), float(others.min()))

    def alike(self, suspect: Suspect, strength: NDArray[np.float64]) -> tuple[int, ...]:
        """The rows of the suspect's node that depart as it does, itself among them.

        Those that are near to it now, and those against which there is about as much evidence of
        the same; `strength` is that of all rows.
        """
        members = self._nodes.members(suspect.circle)
        rows, own = self._rows[members], self._rows[suspect.at]
        is_near = _size(rows - own) <= _APART * suspect.departure
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(own)
        goes_along = rows @ own >= _SAME_WAY * lengths
        is_as_sure = strength[members] >= _AS_SURE * strength[suspect.at]
        says_something = (strength[members] > 0) & (lengths > 0)
        is_alike = is_near | (goes_along & is_as_sure & says_something)
        return tuple(members[is_alike | (members == suspect.at)].tolist())


def why_spared(
    one: Suspect, suspects: Iterable[Suspect], victim_share: float
) -> tuple[Excuse, float, float]:
    """Why a suspect is no culprit: how far it stands apart, in per cent, and how far it should."""
    if not one.stands_apart:
        return Excuse.VICTIM, 100 * one.separation / one.departure, 100 * _APART
    farthest = max(other.separation for other in suspects if other.stands_apart or other.is_sick)
    return Excuse.WEAKER, 100 * one.separation / farthest, 100 * victim_share


def culprits(suspects: Iterable[Suspect], victim_share: float) -> list[Suspect]:
    """Those who are no victims of others.

    Who is sick by itself; whoever stands apart, and about as far as the farthest of them; where
    nobody does, all of a few that are alike.
    """
    found = list(suspects)
    sick = [one for one in found if one.is_sick]
    return [*sick, *_who_stand_out([one for one in found if not one.is_sick], sick, victim_share)]


def _who_stand_out(found: list[Suspect], sick: list[Suspect], victim_share: float) -> list[Suspect]:
    apart = [one for one in found if one.stands_apart]
    if apart:
        farthest = max(one.separation for one in (*apart, *sick))
        return [one for one in apart if one.separation >= victim_share * farthest]
    if sick or len(found) > _LARGEST_SET:
        return []
    farthest = max((one.departure for one in found), default=0.0)
    return [one for one in found if one.departure >= victim_share * farthest]


def _size(deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """One number a row: between the sum of squares, which drowns one bad metric in many good ones,
    and the largest alone, which is blind to several that agree."""
    fourth = np.sum(np.square(np.square(deviations)), axis=1)
    size: NDArray[np.float64] = np.sqrt(np.sqrt(fourth))
    return size
