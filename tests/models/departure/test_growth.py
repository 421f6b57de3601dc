"""What running totals grow by, read in every slot or only now and then."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.models.departure.growth import Growth

METRICS = ("gpu_ecc_correctable_total",)


def grown(*totals: float) -> list[float]:
    """What a running total grows by, slot after slot."""
    growth = Growth()
    return [float(growth.of(np.array([[one]]), ("row",), METRICS)[0, 0]) for one in totals]


def seen_every(slots: int, totals: Sequence[float]) -> list[float]:
    """The totals as an exporter shows them that reads its source only so often."""
    return [totals[at - at % slots] for at in range(len(totals))]


def test_a_running_total_counts_by_what_it_has_grown() -> None:
    first, *later = grown(70.0, 70.0, 73.0, 80.0, 81.0)
    assert math.isnan(first)
    assert later == [0.0, 3.0, 7.0, 1.0]


def test_a_total_that_begins_anew_has_grown_by_nothing_and_goes_on_from_there() -> None:
    assert grown(70.0, 2.0, 5.0)[1:] == [0.0, 3.0]


def test_what_a_total_grew_by_unobserved_comes_with_its_next_value() -> None:
    assert grown(70.0, math.nan, 74.0)[1:] == pytest.approx([math.nan, 4.0], nan_ok=True)


def test_rows_that_come_and_go_keep_their_own_totals() -> None:
    growth = Growth()
    growth.of(np.array([[5.0, 50.0]]), ("a", "b"), METRICS)
    found = growth.of(np.array([[57.0, 1.0, 6.0]]), ("b", "c", "a"), METRICS)
    assert found[0].tolist() == pytest.approx([7.0, math.nan, 1.0], nan_ok=True)


@pytest.mark.parametrize("slots", [2, 5, 30])
def test_a_total_that_is_read_now_and_then_grows_in_every_slot_from_its_second_reading(
    slots: int,
) -> None:
    rate = 4.0
    totals = [rate * at for at in range(6 * slots)]
    found = grown(*seen_every(slots, totals))
    assert found[2 * slots :] == [rate] * (4 * slots)


def test_what_was_read_holds_no_longer_than_until_the_reading_after_next() -> None:
    quiet = [0.0] * 20
    found = grown(0.0, *[8.0] * 4, *[16.0] * 4, *[16.0] * 20)
    assert found[5:10] == [2.0] * 5
    assert found[10:] == quiet[: len(found) - 10]


@pytest.mark.parametrize("gap", [3, 20])
def test_single_events_far_apart_count_when_they_are_seen(gap: int) -> None:
    totals = [float(at // gap) for at in range(5 * gap)]
    assert sum(grown(*totals)[1:]) == 4.0
    assert set(grown(*totals)[1:]) == {0.0, 1.0}


def test_what_comes_once_in_minutes_is_no_reading_that_was_due() -> None:
    found = grown(*[0.0, 200.0, *[200.0] * 99, 400.0, 400.0])
    assert found[-2:] == [200.0, 0.0]


@given(st.lists(st.integers(1, 100), min_size=2, max_size=8))
@settings(max_examples=10)
def test_growth_in_every_slot_adds_up_to_the_total(steps: list[int]) -> None:
    totals = np.cumsum(steps).astype(float)
    assert sum(grown(*totals)[1:]) == pytest.approx(totals[-1] - totals[0])


@given(st.lists(st.one_of(st.just(math.nan), st.floats(0, 1e9)), min_size=1, max_size=12))
@settings(max_examples=20)
def test_nothing_grows_by_less_than_nothing_and_holes_stay_holes(totals: list[float]) -> None:
    for total, found in zip(totals, grown(*totals), strict=True):
        assert math.isnan(found) if math.isnan(total) else not found < 0
