"""The interval is the one that loses the least: Daly's, which is Young's where saving is quick."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.doctor.storage.intervals import (
    best_interval,
    lost_ratio,
    mean_time_between_failures,
    plans,
    waves,
)
from paramedic.ingest.doctor.storage.measuring import StorageSpeed

SPEED = StorageSpeed(1 << 30, 2e9, 4e9, 500.0, is_direct=True)


def test_a_quick_save_has_young_s_interval() -> None:
    assert best_interval(1.0, 1e6) == pytest.approx(math.sqrt(2e6), rel=0.001)


def test_a_save_that_takes_as_long_as_two_failures_has_the_time_between_them() -> None:
    assert best_interval(300.0, 100.0) == 100.0


@given(st.floats(0.1, 3000), st.floats(7200, 1e7))
def test_no_other_interval_loses_much_less(save: float, mean: float) -> None:
    best = best_interval(save, mean)
    at_best = lost_ratio(save, best, mean)
    for other in (0.5 * best, 0.8 * best, 1.25 * best, 2 * best):
        assert lost_ratio(save, other, mean) >= 0.98 * at_best


@given(st.integers(1, 5000))
def test_a_quarter_of_the_nodes_writes_at_a_time(nodes: int) -> None:
    writers = math.ceil(nodes / 4)
    assert (waves(nodes) - 1) * writers < nodes <= waves(nodes) * writers


def test_a_failure_of_any_node_is_one_of_the_job() -> None:
    assert mean_time_between_failures(2048, 3.8) == pytest.approx(86400 * 54 / 420, rel=0.01)
    assert mean_time_between_failures(1, 1000.0) == 86400


def test_one_node_saves_everything_to_its_disk() -> None:
    (plan,) = plans(SPEED, (10.0,), 1, 3.8)
    assert (plan.layout, plan.save_seconds, plan.load_seconds) == ("disk", 5.0, 2.5)


def test_several_nodes_have_a_row_for_own_disks_and_one_for_a_shared_store() -> None:
    own, shared = plans(SPEED, (160.0,), 16, 3.8)
    assert (own.save_seconds, own.load_seconds) == (20.0, 2.5)
    assert (shared.save_seconds, shared.load_seconds) == (80.0, 40.0)
    assert shared.interval_seconds > own.interval_seconds
    assert shared.lost_ratio > own.lost_ratio


def test_a_share_is_never_more_than_all() -> None:
    assert lost_ratio(1e6, 1.0, 1.0) == 1.0
