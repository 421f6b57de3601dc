"""Puts together how all evidence about one node stands in a detector."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.explanation.beats import of_beats
from paramedic.diagnosis.explanation.hearing import of_hearing
from paramedic.diagnosis.explanation.machines import of_machine
from paramedic.diagnosis.explanation.reports import of_reports
from paramedic.ingest.contract import Entity

if TYPE_CHECKING:
    from paramedic.diagnosis.explanation.ranks import RankEvidence
    from paramedic.diagnosis.explanation.standing import Standing
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
        timeout = self.machines.settings.telemetry_timeout_seconds
        cards, picture = self.windows.get(Entity.GPU), self.ranks.picture
        is_named = node in self.accused
        return (
            *of_beats(node, self.liveness, self.silence),
            *self.ranks.of(node),
            *of_machine(node, self.machines, picture, self.ranks.second, cards, is_named=is_named),
            *of_reports(node, self.told),
            *of_hearing(node, self.windows, timeout),
        )
