"""Minder where there is little to see: few slots or machines, and nothing that moves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.minder.pulling import WINDOW
from models.rivals.machines import history, named, noise
from paramedic.models.minder.alignment import Aligned
from paramedic.models.minder.candidates import Candidates, Sightings
from paramedic.models.minder.continuity import NOBODY, TrackWatch
from paramedic.models.minder.detector import THRESHOLDS, MinderDetector
from paramedic.models.minder.encoding import RawWindows
from paramedic.models.minder.metrics import SEVEN, Limits, seven
from paramedic.models.minder.priority import order_by_tree

NAN = float("nan")
BY_NATURE = [at for at, metric in enumerate(SEVEN) if metric.high is not None]
POWER = [metric.name for metric in SEVEN].index("power")


def hasty(**settings: int) -> MinderDetector:
    """A single window is enough, every second."""
    return MinderDetector(1, encoder=RawWindows(), continuity_seconds=0, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("slots", [0, 1, WINDOW - 1])
def test_fewer_slots_than_a_window_make_no_window(slots: int) -> None:
    aligned = Aligned.of(np.ones((slots, 2, 7), np.float32))
    assert aligned.windows == 0
    assert aligned.first_sight(0, 0).shape == (0, 2, 7, WINDOW)
    assert [one.size for one in aligned.revisions()] == [0, 0]


@settings(max_examples=8)
@given(slots=st.integers(WINDOW, 20), nodes=st.integers(1, 3), seed=st.integers(0, 99))
def test_where_nothing_is_missing_windows_are_the_samples_themselves(
    slots: int, nodes: int, seed: int
) -> None:
    values = np.random.default_rng(seed).random((slots, nodes, 2)).astype(np.float32)
    aligned = Aligned.of(values)
    seen = aligned.first_sight(0, aligned.windows)
    for window, one in enumerate(seen):
        np.testing.assert_array_equal(one, values[window : window + WINDOW].transpose(1, 2, 0))
    assert not aligned.revisions()[0].size


def test_a_gap_that_never_closes_keeps_what_was_there_before_it() -> None:
    aligned = Aligned.of(np.array([3.0] + [NAN] * 11, np.float32).reshape(-1, 1, 1))
    assert (aligned.first_sight(0, aligned.windows) == 3.0).all()
    assert not aligned.revisions()[0].size


@settings(max_examples=8)
@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=2))
def test_limits_rise_with_what_is_seen_and_never_fall(tops: list[float]) -> None:
    limits, highest = Limits.nothing_seen(), 0.0
    for top in tops:
        limits = limits.with_seen(seven(history(gpu_power_watts=np.full((2, 3), top))))
        highest = max(highest, top)
        assert limits.high[POWER] == pytest.approx(highest)
    assert [limits.high[at] for at in BY_NATURE] == [1.0] * len(BY_NATURE)


def test_what_nobody_observed_raises_no_limit() -> None:
    dark = seven(history(gpu_power_watts=np.full((2, 9), NAN)))
    assert Limits.nothing_seen().with_seen(dark) == Limits.nothing_seen()


@settings(max_examples=8)
@given(high=st.just(0.0) | st.floats(1e-30, 1e9), value=st.floats(-1e9, 1e9))
@example(high=0.0, value=0.5)
@example(high=5e-324, value=0.0)
def test_whatever_the_limit_shares_are_of_zero_to_one(high: float, value: float) -> None:
    limits = Limits((high,) * 7)
    pair = limits.scaled(np.array([[value] * 7, [value + 1.0] * 7]))
    assert pair.min() >= 0.0
    assert pair.max() <= 1.0
    assert (pair[0] <= pair[1]).all()
    expected = min(max(value / (high or 1.0), 0.0), 1.0)
    assert pair[0].tolist() == pytest.approx([expected] * 7, abs=1e-6)


@pytest.mark.parametrize("nodes", [1, 2])
def test_of_one_machine_or_two_none_is_the_most_unlike(nodes: int) -> None:
    load = noise(60, nodes, 3).T
    load[0, 30:] = 0.95
    assert not hasty().examine(history(cpu_utilization_ratio=load)).alarms(THRESHOLDS[0])


def test_a_crowd_alike_and_a_history_that_never_changes_accuse_nobody() -> None:
    alike = np.repeat(noise(60, 1).T, 9, axis=0)
    for values in (alike, np.full((9, 60), 0.5), np.zeros((9, 60))):
        seen = hasty().examine(history(cpu_utilization_ratio=values))
        assert not seen.alarms(THRESHOLDS[0])


@settings(max_examples=4)
@given(place=st.integers(0, 8))
def test_a_plain_outlier_is_named_wherever_it_stands(place: int) -> None:
    load = np.full((9, 40), 0.3)
    load[place, 20:] = 0.9
    said = named(hasty().examine(history(cpu_utilization_ratio=load)).alarms(2.5))
    assert said == [(20, (f"node-{place:02d}",))]


def watch(machines: NDArray[np.int64], z: NDArray[np.float64], threshold: float) -> TrackWatch:
    windows = np.arange(len(machines))
    nothing = np.array([], np.int64)
    first = Sightings(windows, windows + WINDOW - 1, machines, z)
    later = Sightings(nothing, nothing, nothing, np.array([]))
    return TrackWatch(Candidates(first, later), threshold, needed=2, reach=30)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 1), st.floats(0, 4)), min_size=1, max_size=20))
def test_whoever_is_declared_at_a_threshold_would_have_been_at_a_lower_one(
    sighted: list[tuple[int, float]],
) -> None:
    machines, z = np.array([one for one, _ in sighted]), np.array([far for _, far in sighted])
    strict, loose = (watch(machines, z, threshold) for threshold in (2.0, 1.0))
    for slot in range(WINDOW - 1, WINDOW - 1 + len(sighted)):
        assert strict.pull(slot) == NOBODY or loose.pull(slot) != NOBODY


def test_a_score_at_the_threshold_is_not_above_it() -> None:
    machines, z = np.zeros(4, np.int64), np.full(4, 2.0)
    assert watch(machines, z, 2.0).is_hopeless
    assert watch(machines, z, 1.999).pull(WINDOW + 2) == 1


@pytest.mark.long
@settings(max_examples=5)
@given(seed=st.integers(0, 99), columns=st.integers(1, 7))
def test_an_order_that_was_learnt_names_every_metric_once(seed: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    order = order_by_tree(rng.normal(size=(40, columns)), rng.random(40) < 0.5)
    assert sorted(order) == list(range(columns))


@pytest.mark.long
def test_where_nothing_tells_faults_the_order_stays_as_it_was() -> None:
    is_faulty = np.arange(40) < 20
    assert order_by_tree(np.full((40, 7), -np.inf), is_faulty) == tuple(range(7))
    assert order_by_tree(np.ones((40, 3)), np.ones(40, np.bool_)) == (0, 1, 2)


def test_tracks_are_examined_in_the_order_of_priority() -> None:
    both = history(
        cpu_utilization_ratio=noise(20, 4).T, gpu_graphics_active_ratio=noise(20, 4, 1).T
    )
    plain = hasty().examine(both).tracks
    turned = hasty(order=(4, 1, 0, 2, 3, 5, 6)).examine(both).tracks  # type: ignore[arg-type]
    for at, track in enumerate((4, 1, 0, 2, 3, 5, 6)):
        np.testing.assert_array_equal(turned[at].first.z, plain[track].first.z)
