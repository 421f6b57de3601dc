"""What is said of rows whose evidence decides: of a GPU, or of a whole node."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis.test_rows_test import ROWS, SOON, after, rows_test, window
from paramedic.diagnosis.departure import Departure, departure_of
from paramedic.diagnosis.rows_test import RowsTest

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
