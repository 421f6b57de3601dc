"""What is said of rows whose evidence decides: of a GPU, or of a whole node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.test_rows_test import ROWS, SOON, after, rows_test, window
from paramedic.diagnosis.departure import Departure, departure_of
from paramedic.diagnosis.rows_test import RowsTest
from paramedic.models.departure.character import OF_WORK, About

POWER, TENSOR = "gpu_power_watts", "gpu_tensor_active_ratio"
SLOTS, ODD = 50, 10
"""Odd rows are so in the last of them."""


@pytest.fixture(scope="module")
def test_of_odd_cards() -> RowsTest:
    """Both cards of one node depart."""
    return after(SLOTS, odd=[6, 7])


def told(test: RowsTest, *alike: int, of: int) -> Departure:
    return departure_of(test, window(SLOTS - 1), alike, of)


def test_one_of_a_nodes_cards_is_named_as_a_card(test_of_odd_cards: RowsTest) -> None:
    found = told(test_of_odd_cards, 7, of=8)
    assert (found.row, found.node, found.gpu) == (ROWS[7], "n3", 1)
    assert found.alike == (ROWS[7],)


@pytest.mark.parametrize(("of", "is_nodes"), [(2, True), (3, True), (4, False), (8, False)])
def test_more_than_half_of_its_cards_are_the_nodes_trouble(
    test_of_odd_cards: RowsTest, of: int, *, is_nodes: bool
) -> None:
    found = told(test_of_odd_cards, 6, 7, of=of)
    assert (found.gpu is None) is is_nodes
    assert found.alike == (ROWS[6:8] if is_nodes else (found.row,))


def test_the_only_card_of_a_node_is_named_as_a_card(test_of_odd_cards: RowsTest) -> None:
    assert told(test_of_odd_cards, 7, of=1).gpu == 1


def test_the_strongest_row_speaks_for_those_that_depart_with_it() -> None:
    test = rows_test()
    for second in range(SLOTS):
        test.weigh(window(second, [6, 7] if second > 44 else [7] if second > 39 else []), None,
                   len(ROWS), SOON)  # fmt: skip
    strength = test.evidence.strength
    assert strength[7] > strength[6] > 0
    assert told(test, 6, 7, of=2).row == ROWS[7]


def test_it_began_when_its_evidence_did_and_lasts_to_the_slot_with_it(
    test_of_odd_cards: RowsTest,
) -> None:
    found = told(test_of_odd_cards, 6, 7, of=2)
    assert SLOTS - ODD <= found.since <= SLOTS - ODD + 2
    assert found.second == SLOTS - 1
    assert found.seconds == SLOTS - found.since
    assert found.nats >= found.level == test_of_odd_cards.evidence.level


def test_what_says_most_comes_first_and_is_loud(test_of_odd_cards: RowsTest) -> None:
    found = told(test_of_odd_cards, 7, of=8)
    says = test_of_odd_cards.evidence.speakers(7)
    order = [(POWER, TENSOR)[at] for at in np.argsort(-says)]
    assert list(found.told_by) == order
    assert found.loud == tuple(order)
    assert max(found.told_by.values()) < -3


def test_what_says_little_beside_the_loudest_is_not_loud() -> None:
    test = rows_test()
    for second in range(SLOTS):
        seen = window(second)
        if second > 30:
            seen.values[7, 2] *= 0.3
        if second > 47:
            seen.values[7, 0] *= 0.3
        test.weigh(seen, None, len(ROWS), SOON)
    says = test.evidence.speakers(7)
    assert 0 < says[0] < says[1]
    assert (POWER in told(test, 7, of=8).loud) is bool(says[0] >= says[1] / 10)


def test_a_row_against_which_nothing_speaks_has_no_loud_metric(
    test_of_odd_cards: RowsTest,
) -> None:
    assert told(test_of_odd_cards, 0, of=2).loud == ()


def test_how_much_each_metric_says_adds_up_to_all_of_it(test_of_odd_cards: RowsTest) -> None:
    found = told(test_of_odd_cards, 7, of=8)
    says = dict(zip((POWER, TENSOR), test_of_odd_cards.evidence.speakers(7), strict=True))
    assert sum(found.weights.values()) == pytest.approx(1)
    assert found.weights[POWER] / found.weights[TENSOR] == pytest.approx(says[POWER] / says[TENSOR])
    assert found.share_of(*OF_WORK) == pytest.approx(1)


def test_of_a_row_against_which_nothing_speaks_no_matter_says_anything(
    test_of_odd_cards: RowsTest,
) -> None:
    found = told(test_of_odd_cards, 0, of=2)
    assert found.weights == {}
    assert found.share_of(*About) == 0


CPU, REPLAYS, UNKNOWN = "cpu_utilization_ratio", "gpu_pcie_replays_per_second", "gpu_xid"
SAID = {TENSOR: 0.4, POWER: 0.2, CPU: 0.25, REPLAYS: 0.1, UNKNOWN: 0.05}


def saying(test: RowsTest, weights: Mapping[str, float]) -> Departure:
    return replace(told(test, 7, of=8), weights=weights)


@pytest.mark.parametrize(
    ("matters", "share"),
    [
        ((About.WORK,), 0.6),
        ((About.USAGE,), 0.25),
        ((*OF_WORK, About.USAGE), 0.85),
        ((About.SIGN, About.SIGN), 0.1),
        ((About.CONGESTION,), 0.0),
        ((), 0.0),
        (tuple(About), 0.95),
    ],
)
def test_a_share_is_what_all_metrics_of_these_matters_say(
    test_of_odd_cards: RowsTest, matters: tuple[About, ...], share: float
) -> None:
    assert saying(test_of_odd_cards, SAID).share_of(*matters) == pytest.approx(share)


@given(st.lists(st.floats(0.01, 1), min_size=4, max_size=4), st.sets(st.sampled_from(About)))
def test_shares_of_some_matters_and_of_all_others_add_up(
    said: list[float], some: set[About]
) -> None:
    weights = dict(zip((TENSOR, POWER, CPU, REPLAYS), np.array(said) / sum(said), strict=True))
    one = Departure(ROWS[0], 0, ROWS[:1], 0, 9, 30.0, 20.0, {}, (), weights)
    assert one.share_of(*some) + one.share_of(*(set(About) - some)) == pytest.approx(1)
