"""How the evidence stands that a machine departs from its peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.explanation.gates import why_not_compared
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.ingest.contract import Entity, EntityKey

if TYPE_CHECKING:
    from paramedic.diagnosis.machines import MachineWatch
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.ingest.contract import NodeName


def of_machine(
    node: NodeName, watch: MachineWatch, picture: JobPicture, second: int | None
) -> Iterator[Standing]:
    """The strongest evidence against the node and its GPUs."""
    gate = why_not_compared(picture, second, watch.settings)
    yield Standing(
        EntityKey(Entity.NODE, node),
        Tier.PATTERN,
        "departure",
        watch.departures.suspicion().get(node, 0.0),
        None,
        note=f"not compared now: {gate}" if gate else "",
        unit="nats",
    )
