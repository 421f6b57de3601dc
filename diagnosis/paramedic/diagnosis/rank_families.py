"""Why a rank is slow, where the telemetry of its machine says so.

That a rank is slow is seen in its own words. What makes it so may show in the counters, clocks and
warmth of its machine; where it does, the fault has that name, and else it stays a straggler.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.beyond_chance import is_beyond_chance
from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.family.advice import advice, advice_on_waiting
from paramedic.diagnosis.family.measuring import Stretch, measured
from paramedic.diagnosis.family.naming import shipped_namer
from paramedic.diagnosis.machine_evidence import evidence_by, evidence_of
from paramedic.diagnosis.symptoms import LOADING_METRIC
from paramedic.ingest.contract import Entity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.contract import Evidence
    from paramedic.diagnosis.family.signature import Signature
    from paramedic.diagnosis.finding import Finding
    from paramedic.ingest.contract import NodeName, Window

_SURE = 0.5
"""A family that is less probable is no better a name than what is seen of the rank."""
_FEWEST_SECONDS = 3
_CLEAR = 5.0
"""A metric of the machine that departs by so many standard deviations is told beside the rank's."""
_TOLD = 3
_SAYS_NO_WHY = (
    Fault.STRAGGLER, Fault.HANG, Fault.PROCESS_EXIT, Fault.MACHINE_UNREACHABLE, Fault.UNKNOWN,
)  # fmt: skip


def with_cause(finding: Finding, windows: Mapping[Entity, Window], hosts: Window) -> Finding:
    """The finding about a slow rank, with the family and the evidence that its machine shows.

    Machines without GPU telemetry say nothing of the family; then a rank that waits for data is
    asked alone. `hosts`: what nodes have told in closed slots, so that the order in which telemetry
    arrives makes no difference to what is told beside the rank.
    """
    waits = finding.evidence[0].metric == LOADING_METRIC
    has_cards = bool(windows[Entity.GPU].rows)
    asked = windows if has_cards else {Entity.RANK: windows[Entity.RANK]}
    stretch = Stretch(int(finding.onset.timestamp()), _newest(asked))
    is_heard = (has_cards or waits) and stretch.until - stretch.onset >= _FEWEST_SECONDS
    if finding.node is None:
        return finding
    if not is_heard:
        return _with_host(finding, hosts)
    signature = measured(asked, (), finding.node, stretch)
    naming = shipped_namer().name(signature)
    is_sure = naming.fault not in _SAYS_NO_WHY and naming.probability >= _SURE
    machine = _Machine(finding.node, signature, _of_machines(asked), stretch)
    if is_sure and (named_by := machine.evidence_of(naming.fault)):
        return replace(
            finding,
            fault=naming.fault,
            action=advice(naming, signature),
            evidence=(*finding.evidence, *machine.shown(finding, named_by)),
        )
    told = replace(finding, action=advice_on_waiting(naming)) if waits else finding
    return _with_host(told, hosts)


def _with_host(finding: Finding, hosts: Window) -> Finding:
    """With what its host shows since then, which never decides."""
    if finding.node is None or not hosts.rows:
        return finding
    own = {Entity.NODE: hosts}
    stretch = Stretch(int(finding.onset.timestamp()), hosts.last_second)
    signature = measured(own, (), finding.node, stretch)
    shown = _Machine(finding.node, signature, own, stretch).shown(finding, [])
    return replace(finding, evidence=(*finding.evidence, *shown))


def _newest(windows: Mapping[Entity, Window]) -> int:
    """The second until which cards are heard; where there are none, ranks."""
    return windows.get(Entity.GPU, windows[Entity.RANK]).last_second


def _of_machines(windows: Mapping[Entity, Window]) -> dict[Entity, Window]:
    return {kind: one for kind, one in windows.items() if kind is not Entity.RANK}


@dataclass(frozen=True, slots=True)
class _Machine:
    """The machine of a slow rank, as it is heard beside the rank's own word."""

    node: NodeName
    signature: Signature
    windows: Mapping[Entity, Window]
    stretch: Stretch

    def evidence_of(self, fault: Fault) -> list[Evidence]:
        """What it shows of the fault."""
        return list(evidence_of(fault, self.signature, self.windows, self.node, self.stretch))

    def shown(self, finding: Finding, named_by: list[Evidence]) -> list[Evidence]:
        """What its fault is known by, then what departs most; nothing that is told already."""
        known = {one.metric for one in finding.evidence}
        told = known | {one.metric for one in named_by}
        departing = [
            metric
            for metric in _departing(self.signature)
            if metric not in told and self._is_beyond_chance(metric)
        ]
        more = evidence_by(departing, self.signature, self.windows, self.node, self.stretch)
        return [*(one for one in named_by if one.metric not in known), *more][:_TOLD]

    def _is_beyond_chance(self, metric: str) -> bool:
        """Of any of its rows; a total that grew has done so since then."""
        if metric in self.signature.grown:
            return True
        for window in self.windows.values():
            if metric in window.metrics:
                peers = [at for at, row in enumerate(window.rows) if row.node != self.node]
                mine = (at for at, row in enumerate(window.rows) if row.node == self.node)
                if any(is_beyond_chance(window, metric, at, peers, self.stretch) for at in mine):
                    return True
        return False


def _departing(signature: Signature) -> list[str]:
    """Metrics that depart clearly, counters that grew first, then the farthest out."""
    far = {metric: abs(one.deviation) for metric, one in signature.departures.items()}
    clear = [one for one in far if far[one] >= _CLEAR or one in signature.grown]
    return sorted(clear, key=lambda one: (one not in signature.grown, -far[one], one))
