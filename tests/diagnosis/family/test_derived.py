"""Amounts that no source tells."""

from __future__ import annotations

import numpy as np
import pytest

from paramedic.diagnosis.family.derived import BEYOND_POWER, BEYOND_THREADS, derived

METRICS = ("gpu_power_watts", "gpu_temperature_celsius")
LATE = (200, 230)
"""Long after the change: all of the new warmth has come."""


def beyond_power(watts: float, celsius: float, ages: tuple[int, int] = LATE) -> float:
    """Of a card that burnt 400 W at 70 °C."""
    past, new = np.array([[400.0, 70.0]]), np.array([[watts, celsius]])
    (found,) = derived(METRICS, new, past, ages)
    assert found.name == BEYOND_POWER
    return float(found.changes[0])


@pytest.mark.parametrize(("watts", "celsius"), [(400.0, 70.0), (300.0, 60.0), (500.0, 80.0)])
def test_warmth_that_power_explains_is_none(watts: float, celsius: float) -> None:
    assert abs(beyond_power(watts, celsius)) < 0.1


def test_a_chip_that_burns_less_and_is_as_warm_has_lost_its_cooling() -> None:
    assert beyond_power(320.0, 70.0) == pytest.approx(8.0, abs=0.1)


def test_a_chip_is_not_expected_to_cool_at_once() -> None:
    assert beyond_power(320.0, 70.0, (0, 5)) < 1.0


def test_without_power_before_nothing_is_explained() -> None:
    past, new = np.array([[0.0, 30.0]]), np.array([[400.0, 70.0]])
    (found,) = derived(METRICS, new, past, LATE)
    assert np.isnan(found.changes[0])


def test_without_a_past_a_chip_is_compared_with_what_its_peers_make_of_a_watt() -> None:
    new = np.array([[400.0, 70.0], [400.0, 70.0], [400.0, 70.0], [300.0, 60.0], [300.0, 69.0]])
    (found,) = derived(METRICS, new, np.full(new.shape, np.nan), LATE)
    assert found.levels == pytest.approx([0.0, 0.0, 0.0, 0.0, 9.0])
    (idle,) = derived(METRICS, np.zeros((2, 2)), np.zeros((2, 2)), LATE)
    assert np.isnan(idle.levels).all()


def test_the_processors_use_is_measured_against_a_limit_of_its_own() -> None:
    metrics = ("load_average", "cpu_utilization_ratio")
    past, new = np.array([[1.0, 0.2]]), np.array([[9.0, 0.5]])
    (found,) = derived(metrics, new, past, LATE)
    assert found.name == BEYOND_THREADS
    assert found.changes[0] == pytest.approx(0.3)
    assert found.levels[0] == 0.5, "which is compared where there is no past"


def test_nothing_is_derived_from_metrics_that_are_not_there() -> None:
    assert list(derived(("gpu_power_watts",), np.ones((2, 1)), np.ones((2, 1)), LATE)) == []
