"""Absence that is more than the peers lose is a symptom."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from paramedic.diagnosis.family.hearing import Hearing, Loss, has_holes

SLOTS, PAST = 90, slice(0, 50)
NEW = slice(50, SLOTS)
Bools = NDArray[np.bool_]


def heard(rows: int = 1) -> Bools:
    return np.ones((rows, SLOTS), np.bool_)


def with_holes(row: int = 0, rows: int = 1, every: int = 12, width: int = 4) -> Bools:
    """One of the rows is not heard for a while, again and again."""
    found = heard(rows)
    found[row, NEW] = np.arange(SLOTS - 50) % every >= width
    return found


def hearing(mine: Bools, others: Bools | None = None, card: int | None = None) -> Hearing:
    return Hearing(mine, heard(12) if others is None else others, NEW, PAST, card)


def test_an_accused_card_is_not_unsteady_for_what_its_sister_is() -> None:
    cards = with_holes(row=1, rows=4)
    assert hearing(cards).has_unsteady_cards()
    assert hearing(cards, card=1).has_unsteady_cards()
    assert not hearing(cards, card=0).has_unsteady_cards()


def test_an_accused_card_is_not_lost_because_its_sister_is() -> None:
    cards = heard(4)
    cards[2, NEW] = False
    found = [hearing(cards, card=card).has_lost_cards(host_is_heard=True) for card in (None, 0, 2)]
    assert found == [True, False, True]


def test_a_machine_that_is_heard_now_and_then_has_holes() -> None:
    assert has_holes([hearing(with_holes()), hearing(with_holes())])


def test_holes_of_one_exporter_are_not_the_machines() -> None:
    assert not has_holes([hearing(with_holes()), hearing(heard())])


def test_a_hiccup_is_no_hole() -> None:
    mine = heard()
    mine[0, 60:63] = False
    assert not has_holes([hearing(mine)])


def test_hiccups_that_come_again_are_holes() -> None:
    mine = heard()
    mine[0, [60, 61, 75]] = False
    assert has_holes([hearing(mine)])


def test_holes_that_began_before_the_evidence_are_new_too() -> None:
    mine = with_holes()
    mine[0, 40:44] = False
    assert has_holes([hearing(mine)])


def test_where_everybody_loses_as_much_nobody_has_holes() -> None:
    others = np.concatenate([with_holes(every=12 + n % 3) for n in range(12)])
    assert not has_holes([hearing(with_holes(), others)])


def test_who_was_heard_no_better_before_has_no_new_holes() -> None:
    always = np.tile(np.arange(SLOTS) % 12 >= 3, (1, 1))
    assert not has_holes([hearing(always)])


def test_who_is_hardly_heard_has_holes_whatever_was_before() -> None:
    gone = heard()
    gone[:] = np.arange(SLOTS) % 2 == 0
    assert has_holes([hearing(gone)])


def test_nobody_has_holes_where_nobody_else_is_listened_to() -> None:
    alone = hearing(with_holes(), heard(0))
    assert alone.loss() is None
    assert not has_holes([alone])
    assert not has_holes([])


def test_a_card_that_comes_and_goes_beside_its_sisters_is_unsteady() -> None:
    assert hearing(with_holes(row=2, rows=4)).has_unsteady_cards()
    assert not hearing(heard(4)).has_unsteady_cards()


def test_cards_that_go_with_their_sisters_are_steady() -> None:
    together = np.repeat(with_holes(), 4, axis=0)
    assert not hearing(together).has_unsteady_cards()
    assert not hearing(with_holes()).has_unsteady_cards(), "it has no sister"


def test_a_card_that_is_gone_is_lost_and_not_unsteady() -> None:
    gone = heard(4)
    gone[1, NEW] = False
    assert hearing(gone).has_lost_cards(host_is_heard=False)
    assert not hearing(gone).has_unsteady_cards()


@pytest.mark.parametrize("host_is_heard", [True, False])
def test_the_only_card_is_lost_if_its_host_is_heard(host_is_heard: bool) -> None:
    gone = heard()
    gone[0, NEW] = False
    assert hearing(gone).has_lost_cards(host_is_heard) is host_is_heard


@given(st.integers(1, 30), st.integers(1, 8), st.integers(0, 30))
def test_who_is_heard_whenever_the_peers_are_has_lost_nothing(
    slots: int, peers: int, before: int
) -> None:
    told = np.ones(slots, np.bool_)
    loss = Loss.of(told, np.ones((peers, slots), np.bool_), np.ones(before, np.bool_))
    assert (loss.share, loss.is_clear, loss.is_often) == (1.0, False, False)
