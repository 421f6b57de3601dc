"""How the evidence stands that a GPU has fallen off the bus, by its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.finding import moment

if TYPE_CHECKING:
    from paramedic.diagnosis.lost_cards import LostCards
    from paramedic.ingest.contract import NodeName

_NOTE = "it had no rows in seconds in which at least half of its node's other GPUs had some"


def of_cards(node: NodeName, cards: LostCards, slot_seconds: int) -> Iterator[Standing]:
    """The GPUs of the node that are missing among the others; nothing where none is."""
    for one in cards.missing_of(node, slot_seconds):
        yield Standing(
            one.row,
            Tier.KNOWN_ERROR,
            "gpu_lost",
            one.seconds,
            one.needed_seconds,
            since=moment(one.since),
            note=_NOTE,
            unit="s",
        )
