"""The distance is what a person would say, and chance stays within its margin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from paramedic.models.drift.distance import distance, margin
from paramedic.models.drift.reference import Quantity, Reference, reference_of
from paramedic.models.pattern.tails import GRID, TailCounter

Numbers = NDArray[np.float64]
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def counted(values: Numbers) -> Numbers:
    """Counts on the grid, as training and drift both keep them."""
    counter = TailCounter(1)
    counter.count(np.zeros(1, np.intp), values)
    return counter.counts.reshape(-1)


def reference(counts: Numbers) -> Reference:
    """Quantiles as training takes them: the first point with so large a share at or below."""
    points = np.searchsorted(np.cumsum(counts), np.array(LEVELS) * counts.sum())
    return Reference(points, np.array(LEVELS))


COUNTS = st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any)


def on_grid(few: list[int]) -> Numbers:
    counts = np.zeros(GRID)
    counts[40 : 40 + len(few)] = few
    return counts


@given(COUNTS)
def test_what_looks_like_training_has_no_distance_whatever_its_ties_and_gaps(
    few: list[int],
) -> None:
    counts = on_grid(few)
    assert distance(counts, reference(counts)) == pytest.approx(0, abs=1e-12)


@given(COUNTS, COUNTS)
def test_the_distance_is_never_more_than_that_of_the_whole_distributions(
    few: list[int], others: list[int]
) -> None:
    before, now = on_grid(few), on_grid(others)
    whole = np.abs(np.cumsum(before) / before.sum() - np.cumsum(now) / now.sum()).max()
    assert 0 <= distance(now, reference(before)) <= whole + 1e-12


def test_a_fifth_that_moves_far_away_is_a_distance_of_a_fifth() -> None:
    values = np.random.default_rng(0).normal(size=100_000)
    moved = values.copy()
    moved[:20_000] += 30
    assert distance(counted(moved), reference(counted(values))) == pytest.approx(0.2, abs=0.02)


def test_everything_elsewhere_is_a_distance_of_nearly_1() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    assert distance(counted(values + 40), reference(counted(values))) == pytest.approx(0.99)


def test_nothing_counted_is_no_distance() -> None:
    assert distance(np.zeros(GRID), reference(counted(np.arange(9.0)))) == 0


def test_chance_goes_beyond_its_margin_no_more_often_than_stated() -> None:
    dice = np.random.default_rng(0)
    normal = reference(counted(dice.normal(size=100_000)))
    looks, samples, rate = 200, 100, 0.1
    beyond = sum(
        distance(counted(dice.normal(size=samples)), normal) > margin(samples, rate)
        for _ in range(looks)
    )
    assert beyond <= rate * looks


@given(st.integers(1, 10**6), st.floats(1e-9, 0.5))
def test_more_values_leave_less_to_chance(samples: int, rate: float) -> None:
    assert 0 < margin(4 * samples, rate) <= margin(samples, rate) <= 1


def test_quantiles_are_read_by_their_names_and_those_that_are_none_left_out() -> None:
    told = {"input_q50": 0.0, "input_q05": -1.0, "score_q995": 2.0, "input_qx": 9.0, "mean": 1.0,
            "score_q50": float("nan")}  # fmt: skip
    of_input = reference_of(told, Quantity.INPUT)
    of_score = reference_of(told, Quantity.SCORE)
    assert of_input is not None
    assert of_score is not None
    assert of_input.shares.tolist() == [0.05, 0.5]
    assert of_input.points[1] == (GRID - 1) / 2
    assert of_score.shares.tolist() == [0.995]
    assert reference_of({"mean": 1.0}, Quantity.INPUT) is None
