"""Tails say how rare it is to look so odd, and go on beyond what was seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from paramedic.models.pattern.tails import (
    GRID,
    TailCounter,
    Tails,
    normal_table,
    positions,
    tables,
)

MOST = 12.0


def learnt(numbers: NDArray[np.float64], *, is_two_sided: bool = True) -> Tails:
    counter = TailCounter(1)
    counter.count(np.zeros(1, np.intp), numbers)
    return Tails(tables(counter.counts, MOST, is_two_sided=is_two_sided))


def nats(tails: Tails, *numbers: float) -> list[float]:
    return [float(one) for one in tails.nats(np.array([numbers]))[0]]


NORMAL = learnt(np.random.default_rng(5).standard_normal(50_000))


@pytest.mark.parametrize(("number", "share"), [(2.0, 0.0228), (-2.0, 0.0228), (3.0, 0.00135)])
def test_nats_are_the_logarithm_of_a_tails_share_of_both(number: float, share: float) -> None:
    assert nats(NORMAL, number)[0] == pytest.approx(-np.log(2 * share), abs=0.5)


def test_who_is_in_the_middle_is_not_odd() -> None:
    assert nats(NORMAL, 0.0)[0] < 0.2


@given(st.lists(st.floats(0, 80), min_size=2, max_size=8))
def test_odder_is_never_told_as_less_odd(numbers: list[float]) -> None:
    told = nats(NORMAL, *sorted(numbers))
    assert told == sorted(told)


def test_beyond_what_was_ever_seen_the_tail_goes_on_up_to_the_most() -> None:
    far, farther, boundless = nats(NORMAL, 4.5, 5.0, 1e9)
    assert 8 < far < farther <= boundless <= MOST


def test_each_side_has_a_tail_of_its_own() -> None:
    dice = np.random.default_rng(6)
    rising = learnt(np.abs(dice.standard_normal(20_000)) * 3)
    up, down = nats(rising, 4.0, -4.0)
    assert down > up + 3


def test_one_sided_tables_do_not_mind_little_surprise() -> None:
    tails = learnt(np.random.default_rng(6).standard_normal(20_000), is_two_sided=False)
    low, high = nats(tails, -6.0, 3.0)
    assert low < 0.1
    assert high > 5


def test_too_few_numbers_teach_nothing() -> None:
    assert nats(learnt(np.arange(20.0)), 50.0) == [0.0]


def test_a_table_of_its_own_begins_at_two_hundred_numbers() -> None:
    counter = TailCounter(2)
    counter.count(np.array([[0], [1]]), np.zeros((2, 199)))
    counter.count(np.array([1]), np.zeros(1))
    assert counter.are_enough.tolist() == [False, True]


def test_what_is_not_known_says_nothing_and_is_not_counted() -> None:
    assert nats(NORMAL, float("nan")) == [0.0]
    counter = TailCounter(1)
    counter.count(np.zeros(1, np.intp), np.array([np.nan, 1.0]))
    assert counter.counts.sum() == 1


def test_without_calibration_a_normal_distribution_is_believed() -> None:
    believed = Tails(normal_table(MOST)[None])
    assert nats(believed, 3.0)[0] == pytest.approx(-np.log(2 * 0.00135), abs=0.3)


@given(st.lists(st.floats(-200, 200, width=32), min_size=1, max_size=6))
def test_between_points_of_the_grid_each_line_is_read_straight(numbers: list[float]) -> None:
    table = np.random.default_rng(7).random((40, GRID), np.float32)
    statistic = np.tile(np.array(numbers, np.float32), (40, 1))
    at = positions(statistic.astype(np.float64))
    expected = [
        np.interp(here, np.arange(GRID), line) for here, line in zip(at, table, strict=True)
    ]
    np.testing.assert_allclose(Tails(table).nats(statistic), expected, atol=1e-4)
