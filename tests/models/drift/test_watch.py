"""Windows close, one look each; drift is told, chance is not, and metrics that come and go are."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.models.drift.reference import Quantity
from paramedic.models.drift.watch import DriftConfig, DriftWatch
from paramedic.models.pattern.artifact import PatternArtifact

METRICS = ("gpu_power_watts", "gpu_tensor_active_ratio")
LEVELS = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95, "q99": 0.99}
CONFIG = DriftConfig(window_seconds=100)


def normal(size: int = 4000, seed: int = 0) -> np.ndarray:
    """Both metrics as they were in training."""
    return np.random.default_rng(seed).normal(size=(len(METRICS), size))


@cache
def artifact() -> PatternArtifact:
    seen = normal(50_000, 99)[0]
    quantiles = {
        f"{quantity}_{name}": float(np.quantile(seen, level))
        for quantity in Quantity
        for name, level in LEVELS.items()
    }
    return PatternArtifact({}, {}, METRICS, dict.fromkeys(METRICS, quantiles))


def watch_at(second: int, config: DriftConfig = CONFIG) -> DriftWatch:
    watch = config.build(artifact())
    watch.saw(second, METRICS)
    return watch


def test_what_is_as_in_training_is_worth_no_word() -> None:
    watch = watch_at(0)
    for quantity in Quantity:
        watch.count(quantity, METRICS, normal())
    report = watch.look()
    assert (report.drifted, report.fit.remarks) == ((), ())
    assert [one.samples for one in report.metrics] == [4000] * 4


def test_one_metric_that_moved_is_named_alone() -> None:
    watch = watch_at(0)
    watch.count(Quantity.INPUT, METRICS, normal() + np.array([[0.0], [1.0]]))
    watch.count(Quantity.SCORE, METRICS, normal())
    (moved,) = watch.look().drifted
    assert (moved.metric, moved.quantity) == ("gpu_tensor_active_ratio", Quantity.INPUT)
    assert moved.distance == pytest.approx(0.38, abs=0.05)  # of two normals a deviation apart


def test_a_difference_that_is_tolerated_is_none_however_many_values_say_so() -> None:
    watch = watch_at(0)
    watch.count(Quantity.INPUT, METRICS, normal(30_000) + 0.1)
    assert watch.look().drifted == ()
    strict = watch_at(0, DriftConfig(tolerated_share=0.01))
    strict.count(Quantity.INPUT, METRICS, normal(30_000) + 0.1)
    assert len(strict.look().drifted) == 2


def test_few_values_say_nothing_even_when_all_of_them_are_elsewhere() -> None:
    watch = watch_at(0)
    watch.count(Quantity.INPUT, METRICS, normal(4) + 9)
    assert watch.look().drifted == ()
    watch.count(Quantity.INPUT, METRICS, normal(200, 1) + 9)
    assert len(watch.look().drifted) == 2


def test_a_window_closes_when_its_time_is_over_and_the_next_knows_nothing_of_it() -> None:
    watch = watch_at(1000)
    watch.count(Quantity.INPUT, METRICS, normal() + 3)
    assert watch.saw(1099, METRICS) is None
    closed = watch.saw(1100, METRICS[:1])
    assert closed is watch.latest
    assert closed is not None
    assert (closed.first_second, closed.seconds, len(closed.drifted)) == (1000, 100, 2)
    assert watch.look().metrics == ()
    assert watch.look().fit.missing == METRICS[1:]


def test_metrics_that_are_missing_or_new_are_told_with_the_window() -> None:
    watch = CONFIG.build(artifact())
    watch.saw(0, ["gpu_power_watts", "fan_speed_ratio"])
    fit = watch.look().fit
    assert (fit.missing, fit.new) == (("gpu_tensor_active_ratio",), ("fan_speed_ratio",))


def test_values_of_metrics_that_training_did_not_have_and_holes_are_not_counted() -> None:
    watch = watch_at(0)
    values = np.array([[1.0, np.nan, 2.0], [5.0, 5.0, 5.0]])
    watch.count(Quantity.INPUT, ("gpu_power_watts", "fan_speed_ratio"), values)
    assert [(one.metric, one.samples) for one in watch.look().metrics] == [("gpu_power_watts", 2)]


def test_what_is_kept_does_not_grow_with_what_was_seen() -> None:
    watch = watch_at(0)
    before = sum(one.counts.nbytes for one in watch._counts.values())
    for _ in range(5):
        watch.count(Quantity.INPUT, METRICS, normal())
    assert sum(one.counts.nbytes for one in watch._counts.values()) == before < 10_000


@pytest.mark.parametrize(
    "wrong", [{"window_seconds": 0}, {"every_slots": 0}, {"tolerated_share": 1.0},
              {"false_alarm": 0.0}],
)  # fmt: skip
def test_settings_that_cannot_hold_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        DriftConfig(**wrong)  # type: ignore[arg-type]


@given(st.lists(st.integers(1, 400), min_size=1, max_size=5), st.booleans())
def test_values_may_come_in_any_portions_and_in_any_order(
    sizes: list[int], is_reversed: bool
) -> None:
    values = normal(sum(sizes), 7)
    whole, portions = watch_at(0), watch_at(0)
    whole.count(Quantity.INPUT, METRICS, values)
    order = slice(None, None, -1 if is_reversed else 1)
    for part in np.split(values[:, order], np.cumsum(sizes)[:-1], axis=1):
        portions.count(Quantity.INPUT, METRICS[::-1], part[::-1])
    assert portions.look() == whole.look()


def test_looks_at_what_is_as_in_training_hardly_ever_say_anything() -> None:
    """Without tolerance and with one chance in five: far fewer than one in five, as chance says."""
    strict = DriftConfig(window_seconds=10, tolerated_share=0.0, false_alarm=0.2)
    watch = strict.build(artifact())
    said = 0
    for look in range(60):
        watch.saw(10 * look, METRICS)
        for quantity in Quantity:
            watch.count(quantity, METRICS, normal(60, seed=look))
        closed = watch.saw(10 * look + 10, METRICS)
        said += closed is not None and bool(closed.drifted)
    assert said <= 0.2 * 60


def test_the_most_moved_comes_first() -> None:
    watch = watch_at(0)
    watch.count(Quantity.INPUT, METRICS, normal() + np.array([[1.0], [3.0]]))
    assert [one.metric for one in watch.look().drifted] == list(METRICS[::-1])


def test_a_fingerprint_without_quantiles_is_looked_at_for_missing_metrics_alone() -> None:
    bare = PatternArtifact({}, {}, METRICS, {})
    watch = CONFIG.build(bare)
    watch.saw(0, METRICS[:1])
    watch.count(Quantity.INPUT, METRICS, normal())
    report = watch.look()
    assert (report.metrics, report.fit.missing) == ((), METRICS[1:])
