"""Rows reduced by group, against the plain way."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paramedic.models.grouping import Grouping


@given(st.lists(st.integers(0, 4), max_size=12))
def test_groups_are_what_adding_up_row_by_row_gives(places: list[int]) -> None:
    values = np.random.default_rng(len(places)).random((len(places), 3))
    at = np.array(places, np.intp)
    plain, most = np.zeros((5, 3)), np.zeros((5, 3))
    np.add.at(plain, at, values)
    np.maximum.at(most, at, values)
    grouping = Grouping.of(at, 5)
    np.testing.assert_allclose(grouping.reduced(np.add, values), plain)
    np.testing.assert_allclose(grouping.reduced(np.maximum, values), most)


def test_means_leave_out_what_is_not_known() -> None:
    rows = np.array([[1.0, np.nan], [3.0, np.nan], [8.0, 4.0]])
    means = Grouping.of(np.array([0, 0, 2], np.intp), 3).means(rows)
    assert means[0, 0] == 2.0
    assert means[2].tolist() == [8.0, 4.0]
    assert np.isnan([means[0, 1], *means[1]]).all()
