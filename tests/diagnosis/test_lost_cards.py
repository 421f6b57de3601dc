"""A card that is no longer reported while its siblings are."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import pytest

from diagnosis.cards import GPUS, ROWS, key, slot
from paramedic.diagnosis.contract import Fault, Phase
from paramedic.diagnosis.finding import Finding
from paramedic.diagnosis.lost_cards import LostCards
from paramedic.ingest.contract import EntityKey

LEVELS = {"gpu_power_watts": 600.0}
CARD = key(2, 1)
Missing = Callable[[int], Collection[EntityKey]]


def told(missing: Missing, slots: int = 120, width: int = 1) -> list[tuple[int, Finding]]:
    watch = LostCards()
    return [
        (at * width, finding)
        for at in range(slots)
        for finding in watch.look(slot(at * width, LEVELS, missing=missing(at), width=width), 0)
    ]


@pytest.mark.parametrize(("width", "seconds"), [(1, 9), (5, 15), (15, 45)])
def test_a_card_that_stays_away_is_named_soon(width: int, seconds: int) -> None:
    gone_from = 60
    first, finding = told(lambda at: [CARD] if at >= gone_from else [], width=width)[0]
    assert (finding.node, finding.gpu) == (CARD.node, CARD.index)
    assert (finding.fault, finding.phase) == (Fault.GPU_CARD_DROP, Phase.FAILED)
    assert first - gone_from * width <= seconds + width


def test_a_card_that_answers_now_and_then_is_named_by_and_by() -> None:
    assert told(lambda at: [CARD] if at % 11 < 4 else [])


@pytest.mark.parametrize(
    "missing",
    [
        lambda at: [key(2, gpu) for gpu in range(GPUS)] if at > 20 else [],
        lambda at: [CARD] if 20 < at < 26 else [],
        lambda at: [CARD] if at > 20 and at % 2 else [],
    ],
    ids=["the whole node", "a short hole", "a clock at the edge of seconds"],
)
def test_what_is_no_lost_card(missing: Missing) -> None:
    assert told(missing) == []


def test_where_a_third_of_all_rows_gets_lost_that_says_nothing() -> None:
    lost = np.random.default_rng(1).random((600, len(ROWS))) < 0.3
    assert (
        told(lambda at: [row for row, gone in zip(ROWS, lost[at], strict=True) if gone], 600) == []
    )


def test_a_card_is_back_after_a_minute_of_rows() -> None:
    watch = LostCards()
    for at in range(90):
        list(watch.look(slot(at, LEVELS, missing=[CARD] if at < 20 else []), 0))
        assert watch.is_back(CARD, 1) == (at >= 79)
    assert not watch.is_back(EntityKey(CARD.entity, CARD.node, 99), 1)
