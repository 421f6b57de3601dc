"""Medians over the other rows, against the plain way of taking each entry out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from paramedic.models.leave_one_out import (
    leave_one_out_median,
    leave_one_out_quantiles,
    lower_median,
    median_over_time,
)

_VALUES = st.one_of(st.just(float("nan")), st.integers(-3, 3).map(float), st.floats(-1e6, 1e6))
_ROWS = arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(1, 9)), elements=_VALUES)


def _slowly(row: np.ndarray[tuple[int], np.dtype[np.float64]], at: int) -> float:
    others = np.delete(row, at)
    others = others[~np.isnan(others)]
    if np.isnan(row[at]) or others.size < 2:
        return float("nan")
    return float(np.median(others))


@given(_ROWS)
def test_each_entry_gets_the_median_of_the_others(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> None:
    expected = [[_slowly(row, at) for at in range(row.size)] for row in rows]
    np.testing.assert_allclose(leave_one_out_median(rows), expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("entries", [1023, 1024, 1025, 1026])
def test_of_many_entries_the_others_have_the_same_median_however_it_is_found(entries: int) -> None:
    row = np.random.default_rng(entries).permutation(entries).astype(np.float64)
    expected = [_slowly(row, at) for at in range(0, entries, 97)]
    assert leave_one_out_median(row)[::97].tolist() == expected


@given(_ROWS)
def test_the_median_over_time_passes_over_holes(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> None:
    seen = [row[~np.isnan(row)] for row in rows]
    expected = [float(np.median(part)) if part.size else float("nan") for part in seen]
    np.testing.assert_allclose(median_over_time(rows), expected, rtol=1e-12, atol=1e-9)


@given(_ROWS)
def test_the_lower_median_is_what_more_than_half_of_the_known_reach(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> None:
    seen = [sorted(row[~np.isnan(row)].tolist()) for row in rows]
    expected = [part[(len(part) - 1) // 2] if part else float("nan") for part in seen]
    np.testing.assert_array_equal(lower_median(rows), expected)


@given(_ROWS)
def test_single_numbers_stay_single_numbers_and_mean_the_same(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> None:
    single = np.rint(rows).astype(np.float32)
    found = leave_one_out_median(single)
    assert found.dtype == np.float32
    expected = leave_one_out_median(single.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4)])
def test_of_nothing_nothing_is_known(shape: tuple[int, ...]) -> None:
    for middle in (median_over_time, lower_median):
        found = middle(np.zeros(shape))
        assert found.shape == shape[:-1]
        assert np.isnan(found).all()


def test_an_outlier_does_not_move_its_own_yardstick() -> None:
    near, far = (leave_one_out_median(np.array([1.0, 1.1, 1.2, own])) for own in (5.0, 5e9))
    assert near[3] == far[3] == 1.1


def test_two_rows_have_no_median_of_others() -> None:
    assert np.isnan(leave_one_out_median(np.array([1.0, 2.0]))).all()


@pytest.mark.long
@given(_ROWS, st.sampled_from([0.2, 0.5, 0.8]))
def test_each_entry_gets_the_quantile_of_the_others(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float64]], share: float
) -> None:
    (found,) = leave_one_out_quantiles(rows, (share,))
    for row, quantiles in zip(rows, found, strict=True):
        for at, quantile in enumerate(quantiles):
            others = np.sort(np.delete(row, at))
            others = others[~np.isnan(others)]
            if np.isnan(row[at]) or others.size < 2:
                assert np.isnan(quantile)
            else:
                assert quantile == others[int(np.ceil(share * others.size)) - 1]
