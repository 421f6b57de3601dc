"""Robust deviation from the peers: what it must not depend on, and what it must see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.contract import AnomalyScores, PatternModel
from paramedic.models.peer_deviation import PeerDeviationConfig

SLOTS = 60
SEEDS = st.integers(0, 2**32 - 1)


def window_of(values: NDArray[np.float64], observed: NDArray[np.bool_] | None = None) -> Window:
    rows, metrics, _ = values.shape
    keys = tuple(EntityKey(Entity.RANK, NodeName(f"node-{at:04d}"), at) for at in range(rows))
    return Window(
        job=JobName("job"),
        generation=0,
        entity=Entity.RANK,
        first_second=1000,
        rows=keys,
        metrics=tuple(f"metric_{at}" for at in range(metrics)),
        values=values,
        observed=~np.isnan(values) if observed is None else observed,
    )


def noisy(seed: int, rows: int = 6, metrics: int = 2, slots: int = SLOTS) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(10.0, 1.0, (rows, metrics, slots))


def score(values: NDArray[np.float64], config: PeerDeviationConfig | None = None) -> AnomalyScores:
    return (config or PeerDeviationConfig()).build().score(window_of(values))


@given(SEEDS, st.permutations(range(6)))
@settings(max_examples=25)
def test_the_order_of_rows_does_not_matter(seed: int, order: list[int]) -> None:
    values = noisy(seed)
    np.testing.assert_array_equal(score(values[order]).deviation, score(values).deviation[order])


@given(SEEDS, st.floats(1e-9, 1e12))
@settings(max_examples=25)
def test_the_unit_of_a_metric_does_not_matter(seed: int, factor: float) -> None:
    values = noisy(seed)
    scaled = values * np.array([1.0, factor])[None, :, None]
    np.testing.assert_allclose(score(scaled).deviation, score(values).deviation, rtol=1e-6)


@given(SEEDS, st.integers(0, 5), st.integers(0, SLOTS - 1))
@settings(max_examples=25)
def test_a_hole_is_the_same_as_a_value_that_was_not_observed(
    seed: int, row: int, slot: int
) -> None:
    values = noisy(seed)
    with_hole, observed = values.copy(), np.ones(values.shape, np.bool_)
    with_hole[row, 0, slot], observed[row, 0, slot] = np.nan, False
    masked = PeerDeviationConfig().build().score(window_of(values, observed))
    np.testing.assert_array_equal(score(with_hole).deviation, masked.deviation)


@pytest.mark.parametrize("rows", [4, 5, 8, 64, 1500])
def test_a_lone_outlier_scores_the_same_at_every_size_of_job(rows: int) -> None:
    alike = np.full((rows, 1, SLOTS), 10.0)
    alike[0, 0, -1] = 12.0
    assert score(alike).deviation[0, 0] == pytest.approx(0.2 / 0.05)


def beginning(own: float) -> NDArray[np.float64]:
    """Four slots in which the peers of row 0 differ by up to a tenth; in the last it does too."""
    first = np.full((4, 1, 4), 10.0)
    first[1:, 0, 0] = 11.0, 9.0, 10.0
    first[0, 0, -1] = own
    return first


def test_the_first_slots_are_scaled_by_the_widest_of_them() -> None:
    wide = score(beginning(20.0)).deviation[0, 0]
    calm = np.full((4, 1, 4), 10.0)
    usual = score(np.concatenate([calm, beginning(20.0)], axis=2)).deviation[0, 0]
    assert wide == pytest.approx((1.0 - 0.15) / (1.4826 * 0.1), rel=0.1)
    assert usual == pytest.approx(1.0 / 0.05)


def test_in_the_first_slots_nobody_stands_out_by_what_could_be_a_steady_difference() -> None:
    assert score(beginning(11.4)).deviation[0, 0] == 0.0


def test_few_slots_of_long_steps_say_nothing() -> None:
    sparse = np.full((4, 1, SLOTS), np.nan)
    sparse[..., 5::9] = 10.0
    sparse[0, 0, -1] = 20.0
    assert np.isfinite(sparse[..., -1]).all()
    assert np.isnan(score(sparse).deviation).all()


@pytest.mark.parametrize("rows", [4, 64])
def test_a_lone_outlier_in_noise_scores_about_the_same_at_every_size(rows: int) -> None:
    found = []
    for seed in range(60):
        values = noisy(seed, rows, 1)
        values[0, 0, -1] = 18.0
        found.append(score(values).deviation[0, 0])
    assert 4.5 < np.mean(found) < 8.5


def test_the_size_of_an_outlier_does_not_change_its_own_scale() -> None:
    values = noisy(1, slots=20)  # too short for a steady difference
    values[0, 0, -1] = 20.0
    once = score(values).deviation[0, 0]
    level = score(values).peers[0, 0]
    values[0, 0, -1] = level + 2 * (20.0 - level)
    assert score(values).deviation[0, 0] == pytest.approx(2 * once)


def test_healthy_rows_deviate_by_about_one_standard_deviation() -> None:
    spread = score(noisy(3, rows=256, metrics=8)).deviation.std()
    assert 0.85 < spread < 1.15


def test_two_outliers_among_eight_do_not_mask_each_other() -> None:
    values = noisy(4, rows=8)
    values[:2, 0, -1] += 8.0
    assert (score(values).deviation[:2, 0] > 4).all()


def test_a_row_that_is_always_a_little_different_is_forgiven() -> None:
    values = noisy(5, rows=4) * 0.1 + 9.0
    values[0] *= 1.1
    assert abs(score(values).deviation[0]).max() < 2.0


@pytest.mark.parametrize("step_slots", [1, 5, 7])
def test_where_steps_are_long_a_few_of_them_tell_what_is_steady(step_slots: int) -> None:
    values = noisy(5, rows=4) * 0.1 + 9.0
    values[0] *= 1.1
    has_ended = np.arange(SLOTS) % step_slots == (SLOTS - 1) % step_slots
    assert abs(score(np.where(has_ended, values, np.nan)).deviation[0]).max() < 1.0


def test_only_a_part_of_a_large_steady_difference_is_forgiven() -> None:
    values = noisy(6, rows=4) * 0.1 + 9.0
    values[0] *= 2.0
    assert score(values).deviation[0].min() > 10


def test_a_fresh_fault_is_no_steady_difference() -> None:
    values = np.full((4, 1, SLOTS), 10.0)
    values[0, 0, -20:] = 11.0
    assert score(values).deviation[0, 0] == pytest.approx(0.1 / 0.05)


def test_a_slot_in_turmoil_accuses_less_than_a_quiet_one() -> None:
    quiet = noisy(7, rows=8, metrics=1) * 0.1 + 9.0
    turmoil = quiet.copy()
    quiet[0, 0, -1] = turmoil[0, 0, -1] = 14.0
    turmoil[1:, 0, -1] += np.array([-2.0, 2.0, -2.0, 2.0, -2.0, 2.0, 0.0])
    assert score(turmoil).deviation[0, 0] < 0.6 * score(quiet).deviation[0, 0]


def test_a_quiet_metric_does_not_explode() -> None:
    values = np.full((4, 1, SLOTS), 10.0)
    values[0, 0, -1] = 10.01
    assert score(values).deviation[0, 0] == pytest.approx(0.02)


def test_peers_at_zero_give_a_bounded_deviation() -> None:
    values = np.zeros((4, 1, SLOTS))
    values[0, 0, -1] = 1e-3
    found = score(values)
    assert found.deviation[:, 0].tolist() == [50.0, 0.0, 0.0, 0.0]


def test_a_missing_value_stays_missing() -> None:
    values = noisy(8)
    values[2, 1, -1] = np.nan
    found = score(values)
    assert np.isnan(found.deviation[2, 1])
    assert np.isnan(found.value[2, 1])
    assert np.isfinite(np.delete(found.deviation.ravel(), 5)).all()


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_what_is_no_number_counts_as_missing(bad: float) -> None:
    values = noisy(9)
    values[0, 0, -1] = bad
    found = PeerDeviationConfig().build().score(window_of(values, np.ones(values.shape, np.bool_)))
    assert np.isnan(found.deviation[0, 0])
    assert np.isfinite(found.deviation[1:]).all()


@pytest.mark.parametrize(("rows", "known"), [(1, False), (2, False), (3, True)])
def test_it_takes_three_rows_to_tell_who_is_odd(rows: int, known: bool) -> None:
    assert np.isfinite(score(noisy(10, rows)).deviation).all() == known


def test_a_window_too_short_for_a_spread_says_nothing() -> None:
    assert np.isnan(score(noisy(11, slots=3)).deviation).all()
    assert np.isfinite(score(noisy(11, slots=8)).deviation).all()


@pytest.mark.parametrize("shape", [(0, 2, SLOTS), (4, 0, SLOTS)])
def test_an_empty_window_gives_empty_scores(shape: tuple[int, int, int]) -> None:
    assert score(np.empty(shape)).deviation.shape == shape[:2]


def test_scores_say_what_was_seen_and_what_the_peers_did() -> None:
    values = np.array([1.0, 2.0, 3.0, 9.0])[:, None, None] * np.ones((1, 1, 10))
    found = score(values)
    assert found.second == 1009
    assert found.value[:, 0].tolist() == [1.0, 2.0, 3.0, 9.0]
    assert found.peers[:, 0].tolist() == [3.0, 3.0, 2.0, 2.0]


@given(SEEDS)
@settings(max_examples=5)
def test_what_need_not_be_scored_tells_what_was_seen_and_changes_no_other_score(seed: int) -> None:
    window = window_of(noisy(seed, metrics=3))
    model = PeerDeviationConfig().build()
    every, some = model.score(window), model.score(window, {"metric_1"})
    np.testing.assert_array_equal(some.deviation[:, [0, 2]], every.deviation[:, [0, 2]])
    assert np.isnan(some.deviation[:, 1]).all()
    np.testing.assert_array_equal(some.value, every.value)
    np.testing.assert_array_equal(some.peers, every.peers)


@given(SEEDS, st.lists(st.integers(0, 3), min_size=1, max_size=4))
@settings(max_examples=10)
def test_what_is_kept_of_the_last_window_changes_nothing(seed: int, moves: list[int]) -> None:
    """Windows that slide, while values of the past change, appear and vanish."""
    dice = np.random.default_rng(seed)
    values = noisy(seed, slots=SLOTS + sum(moves))
    model, first = PeerDeviationConfig().build(), 0
    for moved in moves:
        first += moved
        at = tuple(int(dice.integers(size)) for size in values.shape)
        values[at] = dice.choice([np.nan, 5.0, 50.0])
        window = window_of(values[..., first : first + SLOTS])
        window = replace(window, first_second=window.first_second + first)
        fresh = PeerDeviationConfig().build().score(window)
        np.testing.assert_array_equal(model.score(window).deviation, fresh.deviation)


def test_it_is_a_pattern_model() -> None:
    model: PatternModel = PeerDeviationConfig().build()
    assert model.name == "peer_deviation"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: PeerDeviationConfig(floor_share=0.0),
        lambda: PeerDeviationConfig(forgiven_share=1.0),
        lambda: PeerDeviationConfig(recent_slots=-1),
        lambda: PeerDeviationConfig(fewest_slots=0),
        lambda: PeerDeviationConfig(first_slots=0),
        lambda: PeerDeviationConfig(first_slots=9),
        lambda: PeerDeviationConfig(largest_widening=0.5),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: Callable[[], PeerDeviationConfig]) -> None:
    with pytest.raises(ValueError, match="must be"):
        wrong()


def test_nothing_is_learned_of_a_row_of_which_it_is_told_what_it_differs_by() -> None:
    values = np.full((5, 1, SLOTS), 10.0)
    values[0, 0, 10:] = 11.2  # long enough to be taken for steady
    window, model = window_of(values), PeerDeviationConfig().build()
    learned = model.score(window)
    assert learned.own is not None
    assert learned.own[:, 0].tolist() == pytest.approx([0.12, 0, 0, 0, 0])
    assert learned.deviation[0, 0] == pytest.approx(0.0)
    own = np.array([[0.02], *[[np.nan]] * 4])
    told = model.score(window, own=own)
    assert told.deviation[0, 0] == pytest.approx(0.1 / 0.05)
    assert told.deviation[1:].tolist() == learned.deviation[1:].tolist()
