"""Medians within circles of peers, against the plain way."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paramedic.models.circles import Circles

_ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.one_of(st.just(float("nan")), st.integers(-9, 9).map(float))),
    max_size=10,
)


def _slowly(rows: list[tuple[int, float]], at: int) -> float:
    circle, own = rows[at]
    others = [v for i, (c, v) in enumerate(rows) if i != at and c == circle and not np.isnan(v)]
    return float(np.median(others)) if len(others) >= 2 and not np.isnan(own) else float("nan")


@given(_ROWS)
def test_each_row_gets_the_median_of_the_others_in_its_circle(
    rows: list[tuple[int, float]],
) -> None:
    values = np.array([[value for _, value in rows]], np.float64).reshape(1, len(rows))
    found = Circles.of([circle for circle, _ in rows]).median_of_others(values)
    expected = [_slowly(rows, at) for at in range(len(rows))]
    np.testing.assert_array_equal(found, np.array([expected]).reshape(1, len(rows)))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-9, 9).map(float)), min_size=1))
def test_each_circle_has_the_middle_and_the_highest_of_its_rows(
    rows: list[tuple[int, float]],
) -> None:
    keys, values = [key for key, _ in rows], np.array([value for _, value in rows])
    circles = Circles.of(keys)
    members = [values[np.array(keys) == key] for key in dict.fromkeys(keys)]
    middles = circles.middles(values[:, None])[:, 0]
    assert middles.tolist() == [float(np.median(own)) for own in members]
    assert circles.highest(values).tolist() == [float(own.max()) for own in members]
