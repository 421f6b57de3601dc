"""The ring from which windows are cut."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paramedic.models.pattern.recent import RecentSlots, Windows


@given(st.integers(1, 23))
def test_a_window_is_the_last_slots_in_order(pushed: int) -> None:
    ring = RecentSlots(5, 2, 3)
    for slot in range(pushed):
        ring.push(np.full((2, 3), slot + 1.0), np.array([0.5, slot]))
    window = ring.windows(np.array([1]), np.array([2]))
    last = np.arange(pushed - 4, pushed + 1)[-min(pushed, 5) :]
    np.testing.assert_allclose(np.sinh(window.departure[0][-len(last) :]), last, rtol=1e-5)
    np.testing.assert_allclose(window.activity[0][-len(last) :], last - 1)


def test_cells_are_cut_by_metric_and_row() -> None:
    ring = RecentSlots(2, 2, 3)
    for _ in range(2):
        ring.push(np.arange(6.0).reshape(2, 3), np.ones(2))
    window = ring.windows(np.array([0, 1]), np.array([2, 0]))
    np.testing.assert_allclose(np.sinh(window.departure[:, 0]), [2, 3], rtol=1e-6)


def test_what_was_not_observed_is_zero_under_a_mask() -> None:
    ring = RecentSlots(2, 1, 1)
    ring.push(np.array([[np.nan]]), np.ones(1))
    window = ring.windows(np.array([0]), np.array([0]))
    assert window.observed.tolist() == [[0.0, 0.0]]
    assert window.departure.tolist() == [[0.0, 0.0]]


def test_windows_are_joined_in_order() -> None:
    ring = RecentSlots(2, 2, 1)
    parts = [ring.windows(np.array([at]), np.array([0])) for at in (1, 0)]
    assert Windows.joined(parts).metric.tolist() == [1, 0]


@given(st.integers(1, 4), st.integers(0, 12))
def test_windows_can_be_cut_as_they_were_some_slots_ago(at_once: int, pushed: int) -> None:
    at_once_ring, plain = RecentSlots(5, 1, 2, at_once), RecentSlots(5, 1, 2)
    slots = np.arange(2.0 * (pushed + at_once)).reshape(-1, 1, 2)
    for slot in slots[:pushed]:
        at_once_ring.push(slot, slot[:, 0])
    at_once_ring.extend(slots[pushed:], slots[pushed:, :, 0])
    ago = np.arange(at_once)
    cut = at_once_ring.windows(np.zeros(at_once, np.int64), ago % 2, ago)
    for slot, there in enumerate(slots):
        plain.push(there, there[:, 0])
        back = len(slots) - 1 - slot
        if back < at_once:
            then = plain.windows(np.array([0]), np.array([back % 2]))
            np.testing.assert_array_equal(cut.departure[back], then.departure[0])
            np.testing.assert_array_equal(cut.activity[back], then.activity[0])
