"""The seven metrics, their limits, and the windows to train on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.rivals.machines import history, noise
from paramedic.ingest.catalogue.catalogue import shipped_catalogue
from paramedic.models.minder.metrics import IDS, SEVEN, Limits, seven
from paramedic.models.minder.samples import Samples

NAN = float("nan")
NVLINK = [metric.name for metric in SEVEN].index("nvlink")
PFC = [metric.name for metric in SEVEN].index("pfc_tx")


def test_all_seven_are_in_the_catalogue() -> None:
    assert set(IDS) <= set(shipped_catalogue().metrics)
    assert len(SEVEN) == 7


def test_nvlink_is_what_goes_both_ways_and_unknown_where_one_way_is() -> None:
    there, back = np.array([[1e9, 2e9]]), np.array([[3e9, NAN]])
    seen = seven(history(gpu_nvlink_tx_bytes_per_second=there, gpu_nvlink_rx_bytes_per_second=back))
    assert seen.values[:, 0, NVLINK].tolist() == [4e9, pytest.approx(NAN, nan_ok=True)]
    assert np.isnan(seen.values[:, 0, PFC]).all()


def test_a_glitch_does_not_become_the_upper_limit() -> None:
    packets = noise(2000, 10, middle=400.0).T
    packets[3, 77] = 1e12
    limits = Limits.nothing_seen().with_seen(seven(history(pfc_tx_packets_per_second=packets)))
    assert limits.high[PFC] == pytest.approx(430, rel=0.05)


def test_what_is_beyond_a_limit_stays_at_it_and_the_unknown_stays_unknown() -> None:
    limits = Limits((100.0, *(1.0,) * 6))
    scaled = limits.scaled(np.array([[250.0, 0.5, -1.0, NAN, 1.0, 0.0, 0.25]]))
    np.testing.assert_array_equal(scaled, [[1.0, 0.5, 0.0, NAN, 1.0, 0.0, 0.25]])


def test_every_history_gives_samples_within_the_limits_of_all() -> None:
    loud, quiet = (history(gpu_power_watts=noise(60, 5, at, 100.0 * at).T) for at in (4, 2))
    samples = Samples.of(seven(one) for one in (loud, quiet))
    power = samples.scaled()[:, 3]
    assert power.shape == (2 * 53 * 5, 8)
    assert power.max() == pytest.approx(1.0)
    assert 0.4 < power[power < 0.7].mean() < 0.6


def test_histories_that_are_too_short_or_none_at_all_give_no_sample() -> None:
    short = seven(history(cpu_utilization_ratio=noise(7, 3).T))
    assert Samples.of([short]).scaled().shape == (0, 7, 8)
    assert Samples.of([]).scaled().shape == (0, 7, 8)


def test_samples_are_the_same_every_time() -> None:
    level = seven(history(cpu_utilization_ratio=noise(90, 4).T))
    again = replace(level, values=level.values.copy())
    np.testing.assert_array_equal(Samples.of([level]).windows, Samples.of([again]).windows)
