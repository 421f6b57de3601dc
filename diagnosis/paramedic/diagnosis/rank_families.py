"""Why a rank is slow, where the telemetry of its machine says so.

That a rank is slow is seen in its own words. What makes it so may show in the counters, clocks and
warmth of its machine; where it does, the fault has that name, and else it stays a straggler.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.contract import Evidence, Fault
from paramedic.diagnosis.family.advice import advice
from paramedic.diagnosis.family.measuring import Stretch, measured
from paramedic.diagnosis.family.naming import shipped_namer
from paramedic.diagnosis.recent import recent_means
from paramedic.diagnosis.telling_apart import sets_apart
from paramedic.ingest.contract import Entity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


def with_cause(finding: Finding, windows: Mapping[Entity, Window]) -> Finding:
    """The finding about a slow rank, with the family and the evidence that its machine shows.

    Machines without GPU telemetry have no peers to compare them with, and say nothing.
    """
    cards = windows[Entity.GPU]
    onset, node = int(finding.onset.timestamp()), finding.node
    if node is None or not cards.rows or cards.last_second - onset < _FEWEST_SECONDS:
        return finding
    stretch = Stretch(onset, cards.last_second)
    signature = measured(windows, (), node, stretch)
    naming = shipped_namer().name(signature)
    if naming.fault in _SAYS_NO_WHY or naming.probability < _SURE:
        return finding
    shown = tuple(_evidence(finding, signature, windows, node, stretch))
    if not shown and not signature.xids and not signature.cards_missing:
        return finding
    return replace(
        finding,
        fault=naming.fault,
        action=advice(naming, signature),
        evidence=(*finding.evidence, *shown),
    )


def _evidence(
    finding: Finding,
    signature: Signature,
    windows: Mapping[Entity, Window],
    node: NodeName,
    stretch: Stretch,
) -> Iterator[Evidence]:
    """Of the machine: counters that grew, then what departs most and is not told already."""
    known = {one.metric for one in finding.evidence}
    departing = {
        metric: one.deviation
        for metric, one in signature.departures.items()
        if abs(one.deviation) >= _CLEAR or metric in signature.grown
    }
    ranked = sorted(
        departing, key=lambda one: (one not in signature.grown, -abs(departing[one]), one)
    )
    for metric in [one for one in ranked if one not in known][:_TOLD]:
        for entity in (Entity.GPU, Entity.NODE):
            if entity in windows and metric in windows[entity].metrics:
                value, peers = _numbers(windows[entity], metric, node, stretch)
                deviation = round(departing[metric], 2)
                evidence = Evidence(metric, value, peers, deviation, finding.onset)
                if sets_apart(evidence):
                    yield evidence


def _numbers(
    window: Window, metric: str, node: NodeName, stretch: Stretch
) -> tuple[float | None, float | None]:
    """Of the row that is farthest from the peers, and the peers' middle."""
    slots = max(1, (stretch.until + 1 - stretch.onset) // window.slot_seconds)
    means = recent_means(window, metric, slots)
    mine = np.array([row.node == node for row in window.rows])
    others, own = means[~mine & np.isfinite(means)], means[mine & np.isfinite(means)]
    peers = float(np.median(others)) if others.size else None
    if not own.size:
        return None, peers
    farthest = np.abs(own - (0.0 if peers is None else peers)).argmax()
    return float(own[farthest]), peers
