"""How the evidence stands that a machine departs from its peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.explanation.gates import why_not_compared
from paramedic.diagnosis.explanation.standing import Inspected, Standing
from paramedic.ingest.contract import Entity, EntityKey

if TYPE_CHECKING:
    from paramedic.diagnosis.machines import MachineWatch
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.ingest.contract import NodeName


def of_machine(
    node: NodeName, watch: MachineWatch, picture: JobPicture, second: int | None
) -> Iterator[Standing]:
    """The strongest evidence against the node and its GPUs, as their watch tells it."""
    if isinstance(own := _as_it_is(watch), Inspected):
        yield from own.standing(node)
        return
    gate = why_not_compared(node, picture, second, watch.settings)
    yield Standing(
        EntityKey(Entity.NODE, node),
        Tier.PATTERN,
        "departure",
        watch.departures.suspicion().get(node, 0.0),
        None,
        note=f"not compared now: {gate}" if gate else "",
        unit="nats",
    )


def _as_it_is(watch: object) -> object:
    """Without its type: whether it tells its standing itself is seen when it is asked."""
    return watch
