"""What counts as a departure from the peers, and what does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.circles import Circles
from paramedic.models.contract import AnomalyScores
from paramedic.models.peer_departure import PeerDeparture, PeerDepartureConfig

pytestmark = pytest.mark.long


Array = NDArray[np.float64]
METRICS = ("busy_ratio", "errors_per_second")
LONG = 90


def rows_of(count: int) -> tuple[EntityKey, ...]:
    return tuple(EntityKey(Entity.GPU, NodeName(f"n{at:03d}"), 0) for at in range(count))


def healthy(rows: int = 8, slots: int = LONG, seed: int = 0) -> Array:
    """By slot, metric and row: noise of 2 % at a level that changes, and hardly ever an error."""
    rng = np.random.default_rng(seed)
    level = np.where(np.arange(slots) < slots // 2, 0.5, 0.6)[:, None]
    busy = level * np.exp(rng.normal(0, 0.02, (slots, rows)))
    errors = (rng.random((slots, rows)) < 0.01).astype(np.float64)
    return np.stack([busy, errors], axis=1)


def windows(values: Array, rows: tuple[EntityKey, ...] | None = None) -> Iterator[Window]:
    keys = rows or rows_of(values.shape[2])
    for second, slot in enumerate(values):
        numbers = slot.T[:, :, None].astype(np.float32)
        there = ~np.isnan(numbers)
        yield Window(JobName("j"), 0, Entity.GPU, second, keys, METRICS, numbers, there)


def score(
    values: Array, model: PeerDeparture | None = None, circles: Circles | None = None
) -> AnomalyScores:
    """The scores of the last slot."""
    judge = model or PeerDepartureConfig().build()
    return [judge.score(window, circles) for window in windows(values)][-1]


def changed(values: Array, row: int, change: Callable[[Array], Array], begin: int = 80) -> Array:
    other = values.copy()
    other[begin:, 0, row] = change(other[begin:, 0, row])
    return other


def test_what_befalls_all_alike_is_no_departure() -> None:
    values = healthy()
    values[-5:, 0] *= 0.3
    assert np.abs(score(values).deviation[:, 0]).max() < 4


@pytest.mark.parametrize("factor", [0.6, 1.4])
def test_a_row_that_moves_alone_departs_in_its_direction(factor: float) -> None:
    deviation = score(changed(healthy(), 3, lambda own: own * factor)).deviation[:, 0]
    assert abs(deviation[3]) > 8
    assert np.sign(deviation[3]) == np.sign(factor - 1)
    assert np.abs(np.delete(deviation, 3)).max() < 4


def test_a_departure_is_as_large_among_many_as_among_few() -> None:
    few, many = (
        score(changed(healthy(rows), 1, lambda own: own * 0.7)).deviation[1, 0] for rows in (6, 200)
    )
    assert abs(few - many) < 0.35 * abs(many)


def test_the_unit_of_a_metric_makes_no_difference() -> None:
    values = changed(healthy(), 3, lambda own: own * 0.6)
    first, second = score(values), score(values * 1e9)
    np.testing.assert_allclose(first.deviation[:, 0], second.deviation[:, 0], rtol=1e-3, atol=0.05)


def test_what_was_always_a_little_different_is_no_departure() -> None:
    values = changed(healthy(slots=150), 2, lambda own: own * 0.88, begin=0)
    assert abs(score(values).deviation[2, 0]) < 4


def test_who_becomes_like_its_peers_has_not_departed() -> None:
    values = healthy(slots=150)
    values[:140, 0, 2] *= 0.86
    assert abs(score(values).deviation[2, 0]) < 4


def test_what_was_always_very_different_is_one() -> None:
    assert score(changed(healthy(), 2, lambda own: own * 0.5, begin=0)).deviation[2, 0] < -8


def test_without_a_past_a_small_difference_is_borne_with() -> None:
    values = changed(healthy(slots=6), 2, lambda own: own * 0.88, begin=0)
    assert abs(score(values).deviation[2, 0]) < 4


def test_a_departure_does_not_become_the_usual() -> None:
    values = changed(healthy(slots=400), 2, lambda own: own * 0.6)
    assert score(values).deviation[2, 0] < -8


def test_a_sensor_that_stands_still_while_all_move_on_is_no_departure() -> None:
    def stuck(own: Array) -> Array:
        return np.full_like(own, own[0])

    values = changed(healthy(), 3, stuck, begin=20)  # the level changes in slot 45
    assert abs(score(values[:60]).deviation[3, 0]) < 4


def test_a_machine_that_moves_and_then_stands_still_is_one() -> None:
    values = changed(healthy(), 3, np.zeros_like, begin=70)
    assert score(values).deviation[3, 0] < -8


def test_a_metric_that_is_at_zero_most_of_the_time_says_nothing() -> None:
    assert np.isnan(score(healthy()).deviation[:, 1]).all()


def test_one_absurd_sample_does_not_last() -> None:
    values = changed(healthy(), 3, lambda own: own * 1e6, begin=80)
    values[81:] = healthy()[81:]
    assert abs(score(values).deviation[3, 0]) < 4


def test_what_was_not_observed_has_no_score_and_comes_back_as_it_was() -> None:
    values = healthy()
    values[70:85, :, 4] = np.nan
    assert np.isnan(score(values[:80]).deviation[4]).all()
    assert abs(score(values).deviation[4, 0]) < 4


def test_two_rows_have_no_peers() -> None:
    assert np.isnan(score(healthy(rows=2)).deviation).all()


def test_rows_that_leave_take_nothing_along() -> None:
    model = PeerDepartureConfig().build()
    values = healthy(slots=150)
    values[:, 0, 5] *= 0.88
    score(values[:140], model)
    kept = rows_of(8)[3:]
    last = [model.score(window) for window in windows(values[140:, :, 3:], kept)][-1]
    assert np.abs(last.deviation[:, 0]).max() < 4


def test_within_circles_the_others_are_no_peers() -> None:
    values = healthy(rows=12)
    values[80:, 0, 9:] *= 1.6
    circles = Circles.of([at // 9 for at in range(12)])
    assert np.abs(score(values, circles=circles).deviation[:, 0]).max() < 4
    assert np.abs(score(values).deviation[:, 0]).max() > 8


def test_value_and_peers_are_in_the_metrics_unit() -> None:
    scores = score(changed(healthy(), 3, lambda own: own * 0.5, begin=60))
    assert scores.value[3, 0] == pytest.approx(0.3, abs=0.03)
    assert scores.peers[3, 0] == pytest.approx(0.6, abs=0.03)


def test_a_restart_forgets_departures_and_keeps_differences() -> None:
    model = PeerDepartureConfig().build()
    score(changed(healthy(), 2, lambda own: own * 0.6), model)
    model.restart()
    assert abs(score(healthy(slots=5, seed=1) * 1.2, model).deviation[2, 0]) < 4


@pytest.mark.parametrize("name", ["floor_share", "memory_seconds", "trust_seconds"])
def test_settings_that_cannot_work_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        PeerDepartureConfig(**{name: 0.0})
    with pytest.raises(ValueError, match="forgiven_share"):
        PeerDepartureConfig(forgiven_share=-1)
