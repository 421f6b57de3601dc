"""Oddness in nats: measured by the scatter of all rows, in no unit, and never sure of a crowd."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.departure.crowd import named
from paramedic.models.departure.scatter import Scatter
from paramedic.models.departure.steady import Rest

Cells = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Cells]

PACES = np.array([1.0, 6.0, 30.0])[:, None, None]
MEMORY = 100.0
FLOOR = 0.2


class Odd(NamedTuple):
    """(pace, metric, row)."""

    nats: Cells
    deviation: Cells


class Rests:
    """A scatter of one metric that is told one rest a row and slot."""

    def __init__(self, rows: int, least_nats: float = 0.0) -> None:
        self.rows, self.slots = rows, 0
        self.floor = np.array([[FLOOR]])
        self.scatter = Scatter(len(PACES), least_nats)
        self.scatter.arrange(named(rows), ("metric",))

    def tell(self, rests: Cells, doubt: float = 0.0, trust: float = 0.0) -> Odd:
        """NaN: not observed."""
        cells = np.where(np.isnan(rests), 0.0, rests)[None]
        doubts, trusts = np.full_like(cells, doubt), np.full_like(cells, trust)
        rest = Rest(cells, cells, doubts, trusts, cells * 0, cells * 0)
        return self.take(rest, ~np.isnan(rests)[None])

    def take(self, rest: Rest, known: NDArray[np.bool_]) -> Odd:
        odd = self.scatter.weigh(rest, known, self.floor, PACES, self.slots, MEMORY)
        nats = np.zeros((len(PACES), *known.shape))
        nats.ravel()[odd.cells] = odd.nats
        deviations = [odd.yardstick.deviation(pace) for pace in range(len(PACES))]
        found = Odd(nats, np.array(deviations))
        weight = known / min(self.slots + 1, MEMORY)
        early = None if rest.is_settled else np.zeros_like(known)
        self.scatter.learn(rest, weight, early, self.floor)
        self.slots += 1
        return found

    def live(self, slots: int, draw: Draw, seed: int = 5) -> Iterator[Odd]:
        random = np.random.default_rng(seed)
        for _ in range(slots):
            yield self.tell(draw(random, self.rows))


def normal(random: np.random.Generator, rows: int) -> Cells:
    return random.standard_normal(rows)


def heavy(random: np.random.Generator, rows: int) -> Cells:
    return random.standard_t(3, rows)


def bursts(random: np.random.Generator, rows: int) -> Cells:
    return np.exp(1.5 * random.standard_normal(rows))


def settled(rows: int, slots: int = 40) -> Rests:
    rests = Rests(rows)
    for _ in rests.live(slots, normal):
        pass
    return rests


def with_outlier(rows: int, size: float, seed: int = 6) -> Cells:
    rests = normal(np.random.default_rng(seed), rows)
    rests[0] = size
    return rests


@pytest.mark.parametrize("rows", [2, 8, 60])
def test_where_all_rows_are_known_it_makes_no_difference_whether_that_is_said_once(
    rows: int,
) -> None:
    once, each = Rests(rows), Rests(rows)
    random = np.random.default_rng(rows)
    for _ in range(40):
        cells = normal(random, rows)[None]
        found = once.take(
            Rest(cells, cells, 0.0, 1.0, cells * 0, 0.0), np.ones_like(cells, np.bool_)
        )
        expected = each.tell(cells[0], doubt=0.0, trust=1.0)
        np.testing.assert_array_equal(found.nats, expected.nats)
        np.testing.assert_array_equal(found.deviation, expected.deviation)


@given(st.sampled_from([2, 3, 8, 60]), st.floats(1.0, 6.0), st.floats(0, 1), st.integers(0, 10**6))
@settings(max_examples=12)
def test_who_asks_for_what_is_odd_alone_is_told_the_same_of_it(
    rows: int, least: float, trust: float, seed: int
) -> None:
    every, odd_ones = Rests(rows), Rests(rows, least)
    random = np.random.default_rng(seed)
    for _ in range(60):
        rests = np.where(random.random(rows) < 0.05, np.nan, heavy(random, rows))
        expected, found = (one.tell(rests, 1 - trust, trust) for one in (every, odd_ones))
        is_told = found.nats != 0
        assert not (expected.nats[~is_told] > min(least, 4.0)).any()
        np.testing.assert_allclose(found.nats[is_told], expected.nats[is_told])
        np.testing.assert_array_equal(found.deviation, expected.deviation)


@given(st.floats(1.0, 20.0), st.floats(1.05, 3.0))
@settings(max_examples=4)
def test_who_is_farther_out_is_odder_on_either_side(size: float, factor: float) -> None:
    near, far, below = (
        settled(8, 8).tell(with_outlier(8, one)) for one in (size, size * factor, -size * factor)
    )
    assert far.nats[0, 0, 0] > near.nats[0, 0, 0]
    assert below.nats[0, 0, 0] == pytest.approx(far.nats[0, 0, 0])
    assert far.deviation[0, 0, 0] == pytest.approx(-below.deviation[0, 0, 0])


def test_two_outliers_do_not_hide_each_other() -> None:
    rests = with_outlier(8, 8.0)
    rests[1] = 8.0
    assert (settled(8).tell(rests).nats[0, 0, :2] > 3).all()


def test_a_fifth_of_all_rows_do_not_hide_each_other() -> None:
    rests = with_outlier(32, 40.0)
    rests[:6] = 40.0
    assert (settled(32).tell(rests).nats[0, 0, :6] > 3).all()


def test_a_weak_departure_that_lasts_is_seen_at_the_slow_paces_only() -> None:
    rests = settled(16)
    draw = np.random.default_rng(1)
    found = [rests.tell(normal(draw, 16) + 2.0 * (np.arange(16) == 0)) for _ in range(40)]
    quick, _, slow = (np.median([one.nats[pace, 0, 0] for one in found[-10:]]) for pace in range(3))
    assert slow > 5 > quick


def test_a_single_glitch_says_no_more_at_the_slow_pace_however_large_it_is() -> None:
    large, enormous = (
        settled(16).tell(with_outlier(16, size)).nats[2, 0, 0] for size in (1e3, 1e9)
    )
    assert large == pytest.approx(enormous)


def test_what_is_doubted_is_no_oddness() -> None:
    rests = settled(8).tell(with_outlier(8, 8.0), doubt=9.0)
    assert (rests.nats[0, 0] < 1).all()
    assert rests.deviation[0, 0, 0] == 0


def test_differences_below_the_floor_mean_nothing() -> None:
    rests = Rests(8)
    for found in rests.live(20, lambda random, rows: normal(random, rows) * 1e-6):
        assert (found.nats < 1).all()
    assert (rests.tell(with_outlier(8, FLOOR / 4) * (np.arange(8) == 0)).nats < 2).all()


def test_a_slot_in_turmoil_accuses_nobody() -> None:
    rests = settled(32)
    assert rests.tell(5 * normal(np.random.default_rng(2), 32)).nats.max() < 6


def test_who_always_scatters_more_is_measured_by_its_own_past() -> None:
    known, unknown = settled(8), settled(8)
    random = np.random.default_rng(3)
    for _ in range(60):
        rests = normal(random, 8)
        rests[0] *= 5
        for one, trust in ((known, 1.0), (unknown, 0.0)):
            one.tell(rests, trust=trust)
    restless = with_outlier(8, 10.0)
    by_its_past = known.tell(restless, trust=1.0).nats[0, 0, 0]
    assert by_its_past < 0.7 * unknown.tell(restless).nats[0, 0, 0]


@pytest.mark.parametrize(("draw", "rows"), [(heavy, 8), (bursts, 100)])
def test_a_healthy_crowd_is_as_seldom_odd_as_nats_say_whatever_its_noise(
    draw: Draw, rows: int
) -> None:
    odd = [found.nats > 8 for found in Rests(rows).live(160, draw)][80:]
    assert np.mean(odd, axis=(0, 2, 3)).max() < 35 * math.exp(-8)


def test_who_was_not_observed_is_not_odd_and_changes_nothing_for_a_large_crowd() -> None:
    rests = with_outlier(40, 8.0)
    some = np.where(np.arange(40) == 39, np.nan, rests)
    whole, holed = settled(40).tell(rests), settled(40).tell(some)
    assert not holed.nats[:, :, 39].any()
    assert not holed.deviation[:, :, 39].any()
    np.testing.assert_allclose(holed.nats[0, 0, :39], whole.nats[0, 0, :39], atol=0.5)


def test_a_slot_of_which_nothing_is_known_changes_nothing() -> None:
    one, other = settled(8), settled(8)
    assert not one.tell(np.full(8, np.nan)).nats.any()
    one.slots -= 1
    rests = with_outlier(8, 5.0)
    np.testing.assert_array_equal(one.tell(rests).nats, other.tell(rests).nats)


def test_a_metric_that_comes_late_is_measured_at_once_by_what_it_shows() -> None:
    rests = settled(8)
    rests.scatter.arrange(named(8), ("metric", "another"))
    rests.scatter.arrange(named(8), ("another",))
    wild = 30 * normal(np.random.default_rng(4), 8)
    assert rests.tell(wild).nats.max() < 4


def test_a_restart_forgets_the_averages_and_keeps_the_scatter() -> None:
    rests = settled(8)
    for _ in range(5):
        rests.tell(with_outlier(8, 12.0))
    noise = rests.scatter.noise(rests.floor)
    rests.scatter.restart()
    np.testing.assert_array_equal(rests.scatter.noise(rests.floor), noise)
    assert (rests.tell(np.zeros(8)).nats < 1).all()


def test_a_restart_before_the_first_slot_is_harmless() -> None:
    scatter = Scatter(3)
    scatter.restart()
    scatter.arrange(named(3), ("metric",))
    scatter.restart()


def test_noise_is_what_a_healthy_row_may_depart_by() -> None:
    rests = settled(16)
    assert (rests.scatter.noise(rests.floor) > 3.0).all()
    assert (rests.scatter.noise(rests.floor) < 9.0).all()
