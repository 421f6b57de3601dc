"""From scores of rows to evidence against machines: a plain CUSUM on what a machine is odder by
than its peers.

What every metric says beyond what is usual adds up, so that one that shouts and several that murmur
both count; what most of the other machines come to is taken off, because who waits for a
slow machine looks odd as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.grouping import Grouping
from paramedic.models.leave_one_out import leave_one_out_quantiles
from paramedic.models.pattern.panels import PanelKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName
    from paramedic.models.pattern.panels import Panel
    from paramedic.models.pattern.settings import PatternSettings
    from paramedic.models.pattern.tails import Tails

    Singles = NDArray[np.float32]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Some slots, (slots, nodes)."""

    nats: Floats
    """What has added up against each node."""
    gpu: NDArray[np.int16]
    """The index of the node's GPU that is oddest by far; -1: none in particular."""
    excess: Floats
    """What spoke against each node in each slot more than against most others, in nats."""

    @classmethod
    def joined(cls, parts: Sequence[Evidence], nodes: int) -> Evidence:
        """One after the other."""
        nothing = np.zeros((0, nodes))
        return cls(
            np.concatenate([nothing, *(one.nats for one in parts)]),
            np.concatenate([nothing.astype(np.int16), *(one.gpu for one in parts)]),
            np.concatenate([nothing, *(one.excess for one in parts)]),
        )


class EvidenceStream:
    """Adds up scores of panels by node, slot after slot or some at once."""

    def __init__(
        self,
        panels: Sequence[Panel],
        nodes: Sequence[NodeName],
        settings: PatternSettings,
        tails: Tails | None = None,
    ) -> None:
        """`tails`: how much more than most others healthy machines have against them."""
        self._panels, self._settings, self._tails = panels, settings, tails
        at = {node: place for place, node in enumerate(nodes)}
        self._places = [np.array([at[one] for one in panel.nodes], np.intp) for panel in panels]
        self._sum = np.zeros(len(nodes))
        self._cards = [np.zeros(len(panel.nodes)) for panel in panels]

    def advance(self, scores: Sequence[Singles]) -> Evidence:
        """Take in slots of all panels, each (slots, metrics, rows)."""
        odd = [self._of_rows(one) for one in scores]
        excess = self._excess(odd)
        return Evidence(self._added_up(self._steps(excess)), self._oddest_cards(odd), excess)

    def _excess(self, odd: Sequence[Floats]) -> Floats:
        """What speaks against each machine more than against others, (slots, nodes)."""
        spoken = np.zeros((len(odd[0]) if odd else 0, len(self._sum)))
        for rows, places in zip(odd, self._places, strict=True):
            spoken += _strongest(rows, places, len(self._sum))
        most, oddest = leave_one_out_quantiles(spoken, (_MOST_OTHERS, 1.0))
        others = np.nan_to_num(np.maximum(most, _SHARED_WITH_ODDEST * oddest))
        excess: Floats = np.maximum(spoken - others, 0.0)
        return excess

    def _steps(self, excess: Floats) -> Floats:
        """How rarely a healthy machine has so much more against it, less what is expected."""
        if self._tails is None:
            said = np.minimum(excess, self._settings.most_nats_a_slot)
        else:
            said = self._tails.nats(excess / EXCESS_UNIT).astype(np.float64)
        return said - self._settings.expected_nats

    def _of_rows(self, scores: Singles) -> Floats:
        """What speaks against each row in each slot, (slots, rows)."""
        beyond = np.maximum(scores - np.float32(self._settings.ignored_nats), 0)
        over = beyond.sum(axis=1) if self._settings.add_metrics else beyond.max(axis=1, initial=0)
        return np.asarray(over, np.float64)

    def _added_up(self, steps: Floats) -> Floats:
        added = np.empty_like(steps)
        for slot, step in enumerate(steps):
            self._sum = np.minimum(
                np.maximum(self._sum + step, 0.0), self._settings.most_evidence_nats
            )
            added[slot] = self._sum
        return added

    def _oddest_cards(self, odd: Sequence[Floats]) -> NDArray[np.int16]:
        slots = len(odd[0]) if odd else 0
        gpu = np.full((slots, len(self._sum)), -1, np.int16)
        for at, panel in enumerate(self._panels):
            if panel.kind is PanelKind.GPU:
                indices = np.array([-1 if one is None else one for one in panel.indices], np.int16)
                for slot in range(slots):
                    self._cards[at] = _FADING * self._cards[at] + odd[at][slot]
                    gpu[slot] = _alone(self._cards[at], self._places[at], indices, gpu.shape[1])
        return gpu


EXCESS_UNIT = 5.0
"""Nats that count as one on the grid of tails."""
_MOST_OTHERS = 0.8
"""A machine is suspected for what it is odder by than this share of the others …"""
_SHARED_WITH_ODDEST = 0.8
"""… and than so large a share of what the oddest other is: alone, it stands apart; two broken
machines are both suspected, only less."""
_FADING = 0.98
_ALONE_SHARE = 0.5
"""A node's second oddest GPU has at most so much against it where the oddest is named."""


def _strongest(rows: Floats, places: NDArray[np.intp], nodes: int) -> Floats:
    """The strongest row of each node, (slots, nodes)."""
    return Grouping.of(places, nodes).reduced(np.maximum, rows.T).T


def _alone(
    against: Floats, places: NDArray[np.intp], indices: NDArray[np.int16], nodes: int
) -> NDArray[np.int16]:
    """The index of the oddest GPU of each node, or -1 where others are nearly as odd."""
    order = np.lexsort((against, places))
    owner, sorted_against = places[order], against[order]
    last = np.flatnonzero(np.r_[owner[1:] != owner[:-1], True])
    has_second = (last > 0) & (owner[np.maximum(last - 1, 0)] == owner[last])
    second = np.where(has_second, sorted_against[np.maximum(last - 1, 0)], 0.0)
    is_alone = (sorted_against[last] > 0) & (second <= _ALONE_SHARE * sorted_against[last])
    found = np.full(nodes, -1, np.int16)
    found[owner[last]] = np.where(is_alone, indices[order[last]], -1)
    return found
