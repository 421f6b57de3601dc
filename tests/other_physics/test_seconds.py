"""Intervals become shares of seconds."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.other_physics.seconds import Doing, SecondBins
from hypothesis import given
from hypothesis import strategies as st

moments = st.floats(-2.0, 12.0)


@given(st.lists(st.tuples(moments, moments), min_size=1, max_size=5))
def test_all_time_inside_the_recording_is_counted_and_no_other(
    spans: list[tuple[float, float]],
) -> None:
    bins = SecondBins(10, 1)
    for one, other in spans:
        begin, end = sorted((one, other))
        bins.add(Doing.LOAD, np.array([0]), np.array([begin]), np.array([end]))
    inside = [max(0.0, min(max(s), 10.0) - max(min(s), 0.0)) for s in spans]
    assert bins.totals()[Doing.LOAD].sum() == pytest.approx(sum(inside), abs=1e-6)


def test_an_interval_is_split_where_seconds_begin() -> None:
    bins = SecondBins(4, 1)
    bins.add(Doing.WAIT, np.array([0]), np.array([0.75]), np.array([2.25]))
    assert bins.totals()[Doing.WAIT][:, 0] == pytest.approx([0.25, 1.0, 0.25, 0.0])


def test_every_rank_has_its_own_interval_and_rate() -> None:
    bins = SecondBins(3, 3)
    bins.add(
        Doing.WORK,
        np.array([0, 2]),
        np.array([0.0, 1.0]),
        np.array([1.0, 3.0]),
        np.array([0.5, 2.0]),
    )
    assert bins.totals()[Doing.WORK].tolist() == [[0.5, 0, 0], [0, 0, 2.0], [0, 0, 2.0]]


def test_what_has_ended_leaves_no_crumbs() -> None:
    bins = SecondBins(50, 1)
    for at in np.arange(0.0, 20.0, 0.1):
        bins.add(Doing.SHARE, np.array([0]), np.array([at]), np.array([at + 0.03]))
    assert (bins.totals()[Doing.SHARE][21:] == 0.0).all()
