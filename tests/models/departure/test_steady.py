"""What is usual with a row is taken off, and no fault becomes usual."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.departure.crowd import named
from paramedic.models.departure.character import characters_of
from paramedic.models.departure.steady import Rest, Steady, sample

Cells = NDArray[np.float64]
LEVEL, NOISE = 100.0, 3.0
TRUST, MEMORY = 10.0, 100.0
ROWS = 5


ALL = np.array([True])


def fresh(rows: int = ROWS) -> Steady:
    steady = Steady()
    steady.arrange(named(rows), ("metric",))
    return steady


def rest_of(
    steady: Steady, *values: float, level: float = LEVEL, metric: str = "gpu_power_watts"
) -> Rest:
    """Of these rows; the others, and the level, are what their peers do."""
    cells = np.full((1, len(steady.memory.rows)), level)
    cells[0, : len(values)] = values
    return steady.rest(
        cells, np.full_like(cells, level), np.array([[LEVEL]]), ~np.isnan(cells),
        characters_of((metric,)), TRUST,
    )  # fmt: skip


def live(
    steady: Steady, slots: int, *values: float, is_calm: bool = True, noise: float = NOISE
) -> Rest:
    """The rows stand at these values for so long; each slot wavers a little, as sensors do."""
    for slot in range(slots):
        found = rest_of(steady, *(value + 1e-6 * (slot % 2) for value in values))
        calm = np.full(found.rest.shape, is_calm)
        steady.learn(found, np.full_like(found.rest, noise), calm, MEMORY, TRUST)
    return rest_of(steady, *values)


def first(cells: Cells | float) -> float:
    return float(np.ravel(cells)[0])


def test_at_first_nothing_is_forgiven_and_any_ordinary_difference_is_doubted() -> None:
    found = rest_of(fresh(), 108.0)
    assert first(found.rest) == pytest.approx(8.0)
    assert first(found.doubt) == pytest.approx(15.0)
    assert first(found.trust) == 0


@given(st.floats(-14.0, 14.0))
def test_a_steady_difference_is_taken_off_once_it_is_known(difference: float) -> None:
    found = live(fresh(), 15, LEVEL + difference)
    assert first(found.rest) == pytest.approx(0.0, abs=1e-3)
    assert first(found.difference) == pytest.approx(difference)
    assert (first(found.doubt), first(found.trust)) == (0.0, 1.0)


def test_only_so_much_is_forgiven() -> None:
    assert first(live(fresh(), 15, LEVEL + 40.0).rest) == pytest.approx(25.0, abs=0.1)


def test_where_machines_differ_much_more_is_forgiven() -> None:
    apart = (140.0, 80.0, 120.0, 90.0, 110.0)
    assert first(live(fresh(), 15, *apart).rest) == pytest.approx(0.0, abs=1.0)


@pytest.mark.parametrize(
    ("metric", "rest"), [("memory_used_ratio", 0.0), ("gpu_power_watts", 75.0)]
)
def test_what_else_has_always_run_on_a_host_is_taken_off_however_much_and_at_once(
    metric: str, rest: float
) -> None:
    steady = fresh()
    for _ in range(4):
        found = rest_of(steady, 190.0, metric=metric)
        steady.learn(found, np.full_like(found.rest, NOISE), found.rest < np.inf, MEMORY, TRUST)
    live(steady, 10, 190.0) if metric == "gpu_power_watts" else None
    assert first(rest_of(steady, 190.0, metric=metric).rest) == pytest.approx(rest, abs=1e-3)


def test_who_is_like_its_peers_has_not_departed_whatever_it_was_before() -> None:
    steady = fresh()
    live(steady, 15, 108.0)
    assert first(rest_of(steady, 100.0).rest) == 0
    assert first(rest_of(steady, 95.0).rest) == pytest.approx(-5.0)
    assert first(rest_of(steady, 120.0).rest) == pytest.approx(12.0, abs=1e-3)


def test_while_the_job_pauses_as_much_less_is_forgiven() -> None:
    steady = fresh()
    live(steady, 15, 110.0)
    assert first(rest_of(steady, 11.0, level=10.0).rest) == pytest.approx(0.0, abs=1e-3)
    assert first(rest_of(steady, 20.0, level=10.0).rest) == pytest.approx(9.0, abs=1e-3)


def test_the_level_of_a_logarithm_scales_nothing() -> None:
    steady = fresh()
    live(steady, 15, 110.0)
    found = rest_of(steady, 20.0, level=10.0, metric="disk_read_latency_seconds")
    assert first(found.rest) == pytest.approx(0.0, abs=1e-3)


def test_a_row_that_is_known_changes_its_ways_by_steps_that_noise_could_make() -> None:
    steady = fresh()
    live(steady, 60, 100.0)
    slow = first(live(steady, 10, 114.0).rest)
    assert slow > 13.0
    assert first(live(steady, 10, 114.0, noise=100.0).rest) < slow - 1.0


def test_what_startles_teaches_nothing() -> None:
    steady = fresh()
    live(steady, 20, 100.0)
    found = live(steady, 200, 112.0, is_calm=False)
    assert first(found.rest) == pytest.approx(12.0)


def test_a_newcomer_is_unknown_and_who_stays_is_known() -> None:
    steady = fresh()
    live(steady, 15, 110.0)
    steady.arrange((*named(8)[5:], *named(3)), ("metric",))
    trust = np.ravel(rest_of(steady).trust)
    assert trust.tolist() == [0.0] * 3 + [1.0] * 3
    assert rest_of(steady, 100.0, 100.0, 100.0, 110.0).rest[0, 3] == pytest.approx(0.0, abs=1e-3)


def test_what_was_learned_of_another_work_is_sooner_replaced() -> None:
    forgetful, stubborn = fresh(), fresh()
    for steady in (forgetful, stubborn):
        live(steady, 60, 110.0)
    forgetful.forget(5)
    assert forgetful.is_early(TRUST).all()
    assert first(rest_of(forgetful, 110.0).trust) == 0.5
    assert first(live(stubborn, 40, 95.0).rest) == pytest.approx(-5.0)
    assert first(live(forgetful, 40, 95.0).rest) > -4.0


def test_a_sensor_that_stands_still_counts_by_the_difference_with_which_its_value_came() -> None:
    steady = fresh()
    rest_of(steady, 101.0)
    for level in (100.0, 80.0, 60.0):
        assert 0 <= first(rest_of(steady, 101.0, level=level).rest) <= 1.0
    assert first(rest_of(steady, 101.0, level=140.0).rest) == 0


def test_a_value_that_leaps_and_stands_still_stays_odd() -> None:
    steady = fresh()
    rest_of(steady, 100.0)
    for _ in range(3):
        assert first(rest_of(steady, 50.0).rest) == pytest.approx(-50.0)


def test_a_row_that_was_not_observed_has_no_rest_and_takes_up_where_it_was() -> None:
    steady = fresh()
    rest_of(steady, 130.0)
    gone = rest_of(steady, np.nan)
    assert first(gone.rest) == first(gone.difference) == 0
    assert first(rest_of(steady, 130.0, level=99.0).rest) == pytest.approx(30.0)


@given(st.integers(0, 2000))
def test_a_sample_is_all_of_few_rows_and_enough_of_many(rows: int) -> None:
    assert min(rows, 64) <= sample(np.zeros((2, rows))).shape[1] < 128
