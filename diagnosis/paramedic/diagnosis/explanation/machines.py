"""How the evidence stands that a machine departs from its peers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.explanation.gates import why_not_compared
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.ingest.contract import Entity, EntityKey

if TYPE_CHECKING:
    from paramedic.diagnosis.machines import MachineWatch
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.ingest.contract import NodeName

_KIND = "departure"


def of_machine(
    node: NodeName, watch: MachineWatch, picture: JobPicture, second: int | None
) -> Iterator[Standing]:
    """The evidence against the node and its GPUs, and what keeps it from being compared."""
    gate = why_not_compared(node, picture, second, watch.settings)
    found = watch.standing(node)
    if not found:
        key, note = EntityKey(Entity.NODE, node), gate or "nothing of it has been compared yet"
        yield Standing(key, Tier.PATTERN, _KIND, None, None, note=note)
    for one in found:
        notes = (one.note, f"not compared now: {gate}" if gate else "")
        yield replace(one, note="; ".join(note for note in notes if note))
