"""How it is told that a card is missing among its siblings."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from diagnosis.cards import START as BEGIN
from diagnosis.cards import key, slot
from paramedic.diagnosis.explanation.cards import of_cards
from paramedic.diagnosis.lost_cards import LostCards
from paramedic.ingest.contract import EntityKey, NodeName

CARD = key(2, 1)
LEVELS = {"gpu_power_watts": 600.0}


def watched(
    missing_for: int, missing: Collection[EntityKey] = (CARD,), width: int = 1
) -> LostCards:
    """All are there for twenty slots; then these are missing."""
    watch = LostCards()
    for at in range(20 + missing_for):
        gone = missing if at >= 20 else ()
        list(watch.look(slot(at * width, LEVELS, missing=gone, width=width), 0))
    return watch


@pytest.mark.parametrize(("width", "level"), [(1, 8.0), (5, 15.0)])
def test_a_missing_card_is_told_with_how_long_and_how_long_it_takes(
    width: int, level: float
) -> None:
    (one,) = of_cards(CARD.node, watched(3, width=width), width)
    assert (one.subject, one.kind, one.unit, one.level) == (CARD, "gpu_lost", "s", level)
    assert one.since is not None
    assert one.since.timestamp() == BEGIN + 21 * width
    assert 0 < one.share < 1
    assert "other GPUs" in one.note


def test_nothing_is_told_of_a_node_whose_cards_are_there_or_all_missing() -> None:
    assert list(of_cards(CARD.node, watched(0), 1)) == []
    assert list(of_cards(NodeName("n1"), watched(4), 1)) == []
    whole = [key(2, gpu) for gpu in range(4)]
    assert list(of_cards(CARD.node, watched(4, whole), 1)) == []


def test_nothing_is_told_before_a_card_was_seen() -> None:
    assert list(of_cards(CARD.node, LostCards(), 1)) == []
