"""Values on the scales on which their differences mean the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from paramedic.models.departure.character import characters_of
from paramedic.models.departure.scaling import scaled, size_of

LATENCY, ERRORS = "disk_write_latency_seconds", "tcp_retransmits_per_second"
POWER = "gpu_power_watts"
NUMBERS = st.one_of(st.just(float("nan")), st.floats(-1e6, 1e12))


def on_scale(metric: str, *values: float) -> NDArray[np.float64]:
    row = np.array([values], np.float64)
    found = scaled(row, characters_of((metric,)))
    return found.ravel()


@given(st.floats(0.01, 10.0), st.floats(1.5, 10.0))
@settings(max_examples=10)
def test_a_latency_that_doubles_is_as_much_at_any_length(seconds: float, factor: float) -> None:
    short, longer = on_scale(LATENCY, seconds, seconds * factor)
    assert longer - short == pytest.approx(np.log(factor), rel=0.02)


def test_hardly_any_latency_is_as_good_as_none() -> None:
    none, hardly, real = on_scale(LATENCY, 0.0, 1e-6, 1e-3)
    assert hardly - none < 0.02
    assert real - none > 2


def test_the_first_errors_say_more_than_later_ones() -> None:
    none, few, more = on_scale(ERRORS, 0.0, 10.0, 20.0)
    assert none == 0
    assert few - none > 3 * (more - few)


@pytest.mark.parametrize("metric", [LATENCY, ERRORS])
def test_less_than_nothing_counts_as_nothing(metric: str) -> None:
    below, nothing = on_scale(metric, -5.0, 0.0)
    assert below == nothing


@given(st.lists(NUMBERS, min_size=1, max_size=4))
@settings(max_examples=15)
def test_what_was_not_observed_stays_so_and_what_was_keeps_its_order(values: list[float]) -> None:
    for metric in (LATENCY, ERRORS, POWER):
        found = on_scale(metric, *values)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(values))
        in_order = found[np.argsort(values)]
        assert (np.diff(in_order[~np.isnan(in_order)]) >= 0).all()


def test_a_plain_metric_keeps_its_unit_and_the_given_values_are_not_touched() -> None:
    values = np.array([[300.0, np.nan], [0.002, 0.004]])
    given_values = values.copy()
    found = scaled(values, characters_of((POWER, LATENCY)))
    np.testing.assert_array_equal(found[0], given_values[0])
    np.testing.assert_array_equal(values, given_values)


def test_shares_are_taken_of_a_plain_level_and_not_of_a_logarithms() -> None:
    level = np.array([[400.0], [-8.0], [0.2], [7.0]])
    metrics = (POWER, LATENCY, ERRORS, "network_drops_per_second")
    power, latency, few, many = size_of(level, characters_of(metrics))[:, 0]
    assert (power, many) == (400.0, 7.0)
    assert few == latency == size_of(level * 0, characters_of(metrics))[1, 0]
    assert level[1, 0] == -8.0
