"""What was told of a node's GPUs by drivers and counters, and whether that accuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.ingest.contract import Entity, EntityKey

if TYPE_CHECKING:
    from paramedic.diagnosis.known_errors.memory import KnownErrorMemory
    from paramedic.diagnosis.known_errors.report import Report
    from paramedic.ingest.contract import NodeName

_UNIT = "accusing report"


def of_reports(node: NodeName, memory: KnownErrorMemory) -> Iterator[Standing]:
    """Everything that was told lately; one line that says so when it was nothing."""
    told = [one for place in memory.places(node).values() for one in place.values()]
    for report in told:
        yield _of_report(report)
    if not told:
        yield Standing(
            EntityKey(Entity.NODE, node),
            Tier.KNOWN_ERROR,
            "known_errors",
            0.0,
            1.0,
            note="no Xid, SXid, error state or growing error counter was told of it lately",
            unit=_UNIT,
        )


def _of_report(report: Report) -> Standing:
    place, known = report.place, report.known
    entity = Entity.NODE if place.gpu is None else Entity.GPU
    name = "nobody knows this code" if known is None else known.name
    grave = report.severity
    weight = "it never accuses by itself" if grave is None else f"it accuses, as {grave.value}"
    return Standing(
        EntityKey(entity, place.node, place.gpu),
        Tier.KNOWN_ERROR,
        report.label,
        1.0 if report.is_telling else 0.0,
        1.0,
        since=report.first,
        note=f"{name}; {weight}",
        unit=_UNIT,
    )
