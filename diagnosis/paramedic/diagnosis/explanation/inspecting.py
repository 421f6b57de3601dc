"""Puts together how all evidence about one node stands in a detector."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.explanation.beats import of_beats
from paramedic.diagnosis.explanation.cards import of_cards
from paramedic.diagnosis.explanation.domains import of_domains
from paramedic.diagnosis.explanation.gates import PUT_ASIDE, why_nothing_is_said
from paramedic.diagnosis.explanation.hearing import of_hearing
from paramedic.diagnosis.explanation.machines import of_machine
from paramedic.diagnosis.explanation.reports import of_reports
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.ingest.contract import Entity, EntityKey

if TYPE_CHECKING:
    from paramedic.diagnosis.excuses import Hold
    from paramedic.diagnosis.explanation.ranks import RankEvidence
    from paramedic.diagnosis.known_errors.memory import KnownErrorMemory
    from paramedic.diagnosis.liveness import Liveness
    from paramedic.diagnosis.machines import MachineWatch
    from paramedic.diagnosis.silence import SilenceWatch
    from paramedic.ingest.contract import NodeName, Window


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a detector knows at one moment, by who watches it."""

    liveness: Liveness
    silence: SilenceWatch
    ranks: RankEvidence
    machines: MachineWatch
    told: KnownErrorMemory
    windows: Mapping[Entity, Window]
    """Those that end in the newest closed slot; empty before there is one."""
    accused: Collection[NodeName] = ()
    """Who is said not to work as it should."""

    def standing(self, node: NodeName) -> tuple[Standing, ...]:
        """Every kind of evidence about the node."""
        windows, picture = self.windows, self.ranks.picture
        cards = windows.get(Entity.GPU)
        is_named, machines = node in self.accused, self.machines
        width = 1 if cards is None else cards.slot_seconds
        return (
            *of_beats(node, self.liveness, self.silence),
            *self._ranks(node),
            *of_machine(node, machines, picture, self.ranks.second, windows, is_named=is_named),
            *of_domains(node, machines, windows, is_named=is_named),
            *of_cards(node, machines.cards, width),
            *of_reports(node, self.told),
            *self._heard(node),
        )

    def holds(self, node: NodeName) -> tuple[Hold, ...]:
        """What keeps everything from being said of the node."""
        return tuple(why_nothing_is_said(node, self.ranks.picture, self.ranks.second))

    def _is_put_aside(self, node: NodeName) -> bool:
        second, plan = self.ranks.second, self.ranks.picture.maintenance
        return second is not None and node in plan.nodes_at(second)

    def _ranks(self, node: NodeName) -> Iterator[Standing]:
        for one in self.ranks.of(node):
            yield replace(one, note=PUT_ASIDE) if self._is_put_aside(node) else one

    def _heard(self, node: NodeName) -> Iterator[Standing]:
        if self._is_put_aside(node):
            key = EntityKey(Entity.NODE, node)
            yield Standing(key, Tier.HEARTBEAT, "telemetry", None, None, note=PUT_ASIDE)
        else:
            yield from of_hearing(node, self.windows, self.machines.absences)
