"""Rows beside their peers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from paramedic.diagnosis.family.comparing import Compared, means, median, standard_error

PEERS = np.arange(9) > 0
LEAST = np.array([0.1])


def column(*values: float) -> NDArray[np.float64]:
    return np.array([values]).T


SPREAD = np.linspace(-2.0, 2.0, 8)
ALIKE = np.linspace(-0.2, 0.2, 8)


def test_noise_is_the_peers_scatter_and_never_less_than_what_can_be_resolved() -> None:
    wide = Compared.of(column(5.0, *SPREAD), PEERS, LEAST)
    narrow = Compared.of(column(5.0, *(SPREAD / 1000)), PEERS, LEAST)
    assert 1.0 < wide.noise[0] < 3.0
    assert narrow.noise[0] == 0.1
    assert wide.apart[0, 0] == 5.0


def test_a_change_is_compared_where_levels_say_no_more() -> None:
    found = Compared.best_of(column(5.0, *ALIKE), column(0.0, *ALIKE), PEERS, LEAST)
    assert found.apart[0, 0] == 5.0


def test_a_level_is_compared_where_peers_are_much_more_alike_in_it() -> None:
    found = Compared.best_of(column(5.0, *SPREAD), column(3.0, *ALIKE), PEERS, LEAST)
    assert found.apart[0, 0] == 3.0


def test_a_level_is_compared_where_there_is_no_past() -> None:
    none = column(*np.full(9, np.nan))
    assert Compared.best_of(none, column(3.0, *SPREAD), PEERS, LEAST).apart[0, 0] == 3.0
    assert Compared.best_of(column(5.0, *SPREAD), none, PEERS, LEAST).apart[0, 0] == 5.0


def test_a_glimpse_is_no_mean() -> None:
    values = np.ones((4, 1, 10))
    values[0, 0, 2:] = np.nan
    values[1, 0, 6:] = np.nan
    found = means(values)[:, 0]
    assert np.isnan(found[0])
    assert found[1:].tolist() == [1.0, 1.0, 1.0]


def test_what_nobody_has_seen_has_no_mean_and_a_middle_of_zero() -> None:
    nothing = np.full((3, 2, 4), np.nan)
    assert np.isnan(means(nothing)).all()
    assert median(means(nothing)).tolist() == [0.0, 0.0]


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.floats(0.0, 1.0))
def test_the_middle_and_the_noise_are_those_of_what_was_seen(
    seed: int, rows: int, hole_share: float
) -> None:
    random = np.random.default_rng(seed)
    amounts = random.normal(size=(rows, 3))
    amounts[:, 1:][random.random((rows, 2)) < hole_share] = np.nan
    known = ~np.isnan(amounts).all(axis=0)
    middle, found = np.nanmedian(amounts[:, known], axis=0), median(amounts)
    assert found[known].tolist() == middle.tolist()
    assert not found[~known].any()
    away = np.abs(amounts[:, known] - middle)
    spread = np.fmax(
        1.4826 * np.nanmedian(away, axis=0), 0.6080 * np.nanquantile(away, 0.9, axis=0)
    )
    noise = Compared.of(amounts, np.ones(rows, np.bool_), np.zeros(3)).noise
    assert noise[known] == pytest.approx(spread)
    assert not noise[~known].any()


def test_two_means_differ_by_chance_as_slots_scatter_and_the_fewer_the_more() -> None:
    before = np.random.default_rng(1).normal(3.0, 2.0, (1, 4000))
    few, many = (standard_error(before, before[:, :slots])[0] for slots in (4, 400))
    assert few == pytest.approx(2.0 / np.sqrt(4), rel=0.05)
    assert many == pytest.approx(2.0 / np.sqrt(400), rel=0.1)


def test_where_hardly_anything_was_before_what_scatters_now_counts() -> None:
    now = np.tile([1.0, -1.0], 50)[None, :]
    assert standard_error(now[:, :2], now)[0] == pytest.approx(np.sqrt(2 / 100), rel=0.02)


def test_what_was_not_observed_says_nothing_of_chance() -> None:
    nothing = np.full((1, 20), np.nan)
    assert standard_error(nothing, nothing)[0] == 0.0
    holed = np.where(np.arange(40) % 2, 1.0, np.nan)[None, :]
    assert standard_error(holed, holed)[0] == 0.0
