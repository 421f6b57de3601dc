"""Which level is passed as rarely as asked for, whatever climbs healthy evidence makes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from paramedic.diagnosis.climbs import Climbs
from paramedic.diagnosis.tail import Tail

RARITY = 22.0
"""In nats: what 512 tests a second need for one false alarm in a hundred days."""
MANY = 40_000
Peaks = NDArray[np.float64]


def exponential(mean: float, count: int = MANY) -> Peaks:
    """So many peaks, spread as evenly as such a tail has them."""
    peaks: Peaks = -mean * np.log((np.arange(count) + 0.5) / count)
    return peaks


def see(climbs: Climbs, peaks: Peaks, row_slots: int) -> None:
    climbs.live(row_slots)
    climbs.learn(peaks)


def having_seen(peaks: Peaks, row_slots: int | None = None) -> Climbs:
    climbs = Climbs()
    see(climbs, peaks, peaks.size if row_slots is None else row_slots)
    return climbs


@pytest.mark.parametrize("rarity", [10.0, RARITY, 40.0])
def test_an_exponential_tail_gives_the_level_of_independent_slots(rarity: float) -> None:
    assert rarity <= Climbs().level(rarity) <= 1.005 * rarity
    assert rarity <= having_seen(exponential(1.0)).level(rarity) <= 1.05 * rarity


@pytest.mark.parametrize("height", [15.0, 30.0])
def test_bursts_in_every_step_raise_the_level_by_their_height_or_double_it(height: float) -> None:
    """A mean of all climbs would multiply it by their height."""
    climbs, mean = Climbs(), Tail()
    for _ in range(40):
        see(climbs, np.full(50, height), 1000)
        mean.learn(np.full(50, height))
    assert RARITY < climbs.level(RARITY) <= max(2 * RARITY, height + RARITY)
    assert climbs.level(RARITY) < RARITY * mean.fold / 5


def test_the_rarer_bursts_are_the_less_they_raise_the_level() -> None:
    bursts = np.full(3000, 40.0)
    often, seldom, hardly = (
        having_seen(bursts, row_slots).level(RARITY) for row_slots in (10**4, 10**6, 10**8)
    )
    assert 40.0 < hardly < seldom < often < 40.0 + 1.2 * RARITY
    assert math.log(100) <= often - seldom < 1.3 * math.log(100)


@pytest.mark.parametrize("mean", [2.0, 4.0])
def test_heavier_tails_raise_the_level_by_as_much(mean: float) -> None:
    climbs = having_seen(exponential(mean))
    assert climbs.level(RARITY) == pytest.approx(mean * RARITY, rel=0.05)
    assert climbs.level(RARITY + 1) - climbs.level(RARITY) == pytest.approx(mean, rel=0.05)


def test_what_never_comes_back_raises_nothing() -> None:
    climbs, nothing = Climbs(), np.empty(0)
    for _ in range(5):
        before = climbs.level(RARITY)
        see(climbs, nothing, 10_000)
        assert RARITY <= climbs.level(RARITY) <= before


def test_peaks_of_less_than_a_nat_are_no_climbs() -> None:
    low, none = having_seen(np.full(1000, 0.9)), having_seen(np.empty(0), 1000)
    np.testing.assert_array_equal(low.counts, none.counts)
    assert low.row_slots == none.row_slots


def test_old_climbs_are_forgotten() -> None:
    climbs = having_seen(exponential(5.0))
    high = climbs.level(RARITY)
    for _ in range(6):
        see(climbs, exponential(1.0), MANY)
    assert high > 4 * RARITY
    assert climbs.level(RARITY) < 1.1 * RARITY


@given(st.lists(st.floats(0, 5000), max_size=60), st.integers(0, 60), st.floats(1, 60))
def test_it_makes_no_difference_which_climbs_ended_together(
    heights: list[float], cut: int, rarity: float
) -> None:
    peaks = np.array(heights)
    at_once, in_two = having_seen(peaks, 500), having_seen(peaks[:cut], 200)
    see(in_two, peaks[cut:], 300)
    assert in_two.level(rarity) == pytest.approx(at_once.level(rarity))
    assert at_once.level(rarity) >= rarity


@given(st.lists(st.lists(st.floats(0, 5000), max_size=4), max_size=6))
def test_asking_for_the_level_on_the_way_makes_no_difference(slots: list[list[float]]) -> None:
    asked, unasked = Climbs(), Climbs()
    for heights in slots:
        for climbs in (asked, unasked):
            see(climbs, np.array(heights), 50)
        asked.level(RARITY)
    assert asked.level(RARITY) == unasked.level(RARITY)


@dataclass(frozen=True)
class Shape:
    """How climbs of one kind are drawn, and how many of them pass a height."""

    draw: Callable[[np.random.Generator, int], Peaks]
    beyond: Callable[[float], float]


def exponential_shape(mean: float) -> Shape:
    return Shape(lambda rng, n: rng.exponential(mean, n), lambda h: math.exp(-h / mean))


EXPONENTIAL: Mapping[str, Shape] = {
    "as if independent": exponential_shape(1.0),
    "twice as heavy": exponential_shape(2.0),
    "four times as heavy": exponential_shape(4.0),
}
BURST = 15.0
BURSTING: Mapping[str, Shape] = {
    "sums of two": Shape(lambda rng, n: rng.gamma(2.0, 1.0, n), lambda h: (1 + h) * math.exp(-h)),
    "bounded bursts": Shape(
        lambda rng, n: rng.uniform(0, BURST, n), lambda h: max(0.0, 1 - h / BURST)
    ),
    "bursts and what comes on top": Shape(
        lambda rng, n: BURST + rng.exponential(1.0, n), lambda h: math.exp(min(0.0, BURST - h))
    ),
}


def found_and_passed(shape: Shape, rarity: float, seed: int) -> tuple[float, float]:
    """The level, and the share of row-slots that pass it; climbs end in three of ten."""
    climbs = having_seen(shape.draw(np.random.default_rng(seed), 30_000), 100_000)
    level = climbs.level(rarity)
    return level, 0.3 * shape.beyond(level)


@given(st.sampled_from(tuple(EXPONENTIAL)), st.floats(8, 14), st.integers(0, 10**6))
def test_the_level_is_passed_about_as_rarely_as_asked_for(
    kind: str, rarity: float, seed: int
) -> None:
    _, passed = found_and_passed(EXPONENTIAL[kind], rarity, seed)
    assert math.exp(-2 - rarity) <= passed <= math.exp(1 - rarity)


@given(st.sampled_from(tuple(BURSTING)), st.floats(8, 14), st.integers(0, 10**6))
def test_bursts_pass_the_level_no_more_often_though_it_is_not_far_above_them(
    kind: str, rarity: float, seed: int
) -> None:
    level, passed = found_and_passed(BURSTING[kind], rarity, seed)
    assert passed <= math.exp(1 - rarity)
    assert level <= max(2 * rarity, BURST + rarity + 1)
