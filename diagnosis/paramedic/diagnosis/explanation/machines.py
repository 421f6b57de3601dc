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
    from paramedic.ingest.contract import NodeName, Window

_KIND = "departure"


def of_machine(
    node: NodeName,
    watch: MachineWatch,
    picture: JobPicture,
    second: int | None,
    cards: Window | None = None,
    *,
    is_named: bool = False,
) -> Iterator[Standing]:
    """The evidence against the node and its GPUs, and what keeps it from being compared.

    `cards`: what they have told until now; `is_named`: a verdict says already that it does not work
    as it should, so that no reason why it is spared holds.
    """
    gate = why_not_compared(node, picture, second, watch.settings)
    if not gate and cards is not None and watch.has_stood(cards):
        gate = "the job stands still"
    found = watch.standing(node, is_named=is_named)
    if not found:
        key, note = EntityKey(Entity.NODE, node), gate or "nothing of it has been compared yet"
        yield Standing(key, Tier.PATTERN, _KIND, None, None, note=note)
    for one in found:
        notes = (one.note, f"not compared now: {gate}" if gate else "")
        yield replace(one, note="; ".join(note for note in notes if note))
