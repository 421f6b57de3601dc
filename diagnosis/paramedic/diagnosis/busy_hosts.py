"""Hosts that are busy with something else, and for how long that is nobody's problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from paramedic.diagnosis.chores import Chores, does_not_decide_otherwise
from paramedic.models.departure.character import About

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.cost import Cost
    from paramedic.diagnosis.departure import Departure
    from paramedic.diagnosis.node_evidence import NodeEvidence
    from paramedic.ingest.contract import NodeName
    from paramedic.models.departure.model import Departures

_MOSTLY = 0.5
_OF_DATA = ("disk_throughput_bytes_per_second", "tcp_throughput_bytes_per_second")
_SOME_DATA = 0.1
_ABOUT_THEN_SECONDS = 15
"""What began so long before the job was seen to stand may be why."""


class Spared(Enum):
    """What a busy host does to an accusation."""

    NOT = auto()
    FOR_NOW = auto()
    """It explains what is seen, and the evidence is kept: it may come to cost too much."""
    AS_OVER = auto()
    """It has cost something, and is over: nobody can do anything about it now."""
    AND_DOUBTED = auto()
    """It has explained what was seen, and is over: most of the evidence is of then."""


@dataclass(slots=True)
class BusyHosts:
    """The hosts of one job, and who was spared because of them."""

    _chores: Chores = field(default_factory=Chores)
    _spared: set[NodeName] = field(default_factory=set)

    def look(self, slot: Departures | None, pace: int, second: int) -> None:
        """Take a slot of host rows in."""
        self._chores.look(slot, pace, second)

    def spare(
        self, one: Departure, standing: Mapping[NodeName, NodeEvidence], cost: Cost
    ) -> Spared:
        """Whether a busy host, its own or another's, explains it, and costs little."""
        if cost.is_known_of_job and one.share_of(About.USAGE) >= _MOSTLY:
            if cost.is_borne_by_job:
                return Spared.FOR_NOW
            return Spared.NOT if self._chores.is_busy(one.node) else Spared.AS_OVER
        if does_not_decide_otherwise(one, cost) or self._chores.explain(one, standing, cost):
            self._spared.add(one.node)
            return Spared.FOR_NOW
        was_spared = one.node in self._spared
        self._spared.discard(one.node)
        is_over = was_spared and cost.is_borne
        return Spared.AND_DOUBTED if is_over else Spared.NOT


def has_no_part(one: Departure, standing_since: int) -> bool:
    """Whether, in a job that stands still, its host is only busy, since before it stood or with
    moving data: then the job saves its state, and all wait for who writes it."""
    if one.share_of(About.USAGE) < _MOSTLY:
        return False
    moves_data = sum(one.weights.get(metric, 0.0) for metric in _OF_DATA) >= _SOME_DATA
    return moves_data or one.since < standing_since - _ABOUT_THEN_SECONDS
