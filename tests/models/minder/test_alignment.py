"""Samples take the value of the nearest time that a pull has seen."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.minder.pulling import WINDOW, nearest
from paramedic.models.minder.alignment import Aligned

NAN = float("nan")
gappy = st.lists(st.one_of(st.just(NAN), st.floats(0, 1, width=32)), min_size=10, max_size=24)


def column(values: list[float]) -> NDArray[np.float32]:
    return np.array(values, np.float32).reshape(-1, 1, 1)


def test_a_missing_sample_takes_the_nearer_and_of_two_the_earlier() -> None:
    aligned = Aligned.of(column([NAN, 1.0, NAN, NAN, NAN, 5.0, NAN]))
    assert aligned.nearest[:, 0, 0].tolist() == [1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0]


def test_nobody_knows_a_later_sample_before_it_is_there() -> None:
    aligned = Aligned.of(column([1.0] * 7 + [NAN, NAN, 5.0, 6.0]))
    assert aligned.first_sight(1, 2)[0, 0, 0].tolist() == [1.0] * 8
    windows, pulls = aligned.revisions()
    assert (windows.tolist(), pulls.tolist()) == ([1], [9])
    assert aligned.seen_at(windows, pulls)[0, 0, 0].tolist() == [1.0] * 7 + [5.0]


def test_a_machine_that_has_said_nothing_yet_is_not_known() -> None:
    aligned = Aligned.of(column([NAN] * 9 + [4.0]))
    assert np.isnan(aligned.first_sight(0, 2)).all()
    assert (aligned.seen_at(np.array([0]), np.array([9])) == 4.0).all()


@given(gappy)
def test_every_pull_sees_what_it_would_have_aligned_by_itself(values: list[float]) -> None:
    series = column(values)
    aligned = Aligned.of(series)
    seen = dict(enumerate(aligned.first_sight(0, aligned.windows)[:, 0, 0]))
    windows, pulls = aligned.revisions()
    for slot in range(WINDOW - 1, len(values)):
        now = pulls == slot
        revised = aligned.seen_at(windows[now], pulls[now])[:, 0, 0]
        seen.update(zip(windows[now].tolist(), revised, strict=True))
        by_itself = nearest(series[:, :, 0].astype(np.float64), slot)[:, 0]
        for window in range(slot - WINDOW + 2):
            expected = by_itself[window : window + WINDOW]
            np.testing.assert_array_equal(seen[window], expected.astype(np.float32))
