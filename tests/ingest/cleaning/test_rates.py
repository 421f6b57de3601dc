"""Counters become rates; restarts, gaps and repeats never become a wrong one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.cleaning.pages import Exporter, cleaned, column, gpu, only
from paramedic.ingest.cleaning.rates import CounterReadings
from paramedic.ingest.contract import NodeName

REPLAYS = "DCGM_FI_DEV_PCIE_REPLAY_COUNTER"
RATE = "gpu_pcie_replays_per_second"
LANE = ((NodeName("n1"), 0), "metric", "METRIC", ())


def test_nothing_is_known_of_a_rate_before_the_second_page() -> None:
    page = cleaned(gpu(REPLAYS, 0, 500))
    assert page.tables == ()
    assert not page.rejected


def test_a_rate_is_what_grew_over_the_time_that_passed() -> None:
    exporter = Exporter()
    exporter.says(gpu(REPLAYS, 0, 100), 10.0)
    assert only(exporter.says(gpu(REPLAYS, 0, 103), 12.0), RATE) == 1.5
    assert only(exporter.says(gpu(REPLAYS, 0, 103), 13.0), RATE) == 0.0


def test_a_counter_that_began_anew_has_no_rate_for_that_page() -> None:
    exporter = Exporter()
    exporter.says(gpu(REPLAYS, 0, 100), 10.0)
    page = exporter.says(gpu(REPLAYS, 0, 4), 11.0)
    assert only(page, RATE) is None
    assert page.rejected == {("counter_reset", RATE): 1}
    assert only(exporter.says(gpu(REPLAYS, 0, 6), 12.0), RATE) == 2.0


def test_a_missing_page_makes_the_next_rate_a_mean_over_the_gap() -> None:
    exporter = Exporter()
    exporter.says(gpu(REPLAYS, 0, 100) + gpu(REPLAYS, 1, 0), 10.0)
    exporter.says(gpu(REPLAYS, 1, 0), 11.0)
    page = exporter.says(gpu(REPLAYS, 0, 120) + gpu(REPLAYS, 1, 0), 20.0)
    assert column(page, RATE) == {("n1", 0): 2.0, ("n1", 1): 0.0}


def test_after_a_long_absence_a_counter_begins_anew() -> None:
    exporter = Exporter()
    exporter.says(gpu(REPLAYS, 0, 100), 10.0)
    assert only(exporter.says(gpu(REPLAYS, 0, 900), 311.0), RATE) is None
    assert only(exporter.says(gpu(REPLAYS, 0, 901), 312.0), RATE) == 1.0


def test_a_blank_between_two_readings_is_only_a_gap() -> None:
    exporter = Exporter()
    exporter.says(gpu(REPLAYS, 0, 100), 10.0)
    exporter.says(gpu(REPLAYS, 0, 9223372036854775794), 11.0)
    assert only(exporter.says(gpu(REPLAYS, 0, 104), 12.0), RATE) == 2.0


def test_pages_out_of_order_do_not_spoil_the_count() -> None:
    exporter = Exporter()
    exporter.says(gpu(REPLAYS, 0, 100), 10.0)
    late = exporter.says(gpu(REPLAYS, 0, 90), 9.0)
    assert only(late, RATE) is None
    assert not late.rejected
    assert only(exporter.says(gpu(REPLAYS, 0, 102), 11.0), RATE) == 2.0


def test_a_clock_that_was_set_back_is_followed() -> None:
    exporter = Exporter()
    exporter.says(gpu(REPLAYS, 0, 100), 10_000.0)
    exporter.says(gpu(REPLAYS, 0, 101), 1_000.0)
    assert only(exporter.says(gpu(REPLAYS, 0, 103), 1_001.0), RATE) == 2.0


def test_a_rate_that_no_device_can_have_is_a_spike() -> None:
    exporter = Exporter()
    exporter.says(gpu("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 0, 0), 1.0)
    page = exporter.says(gpu("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 0, 1e12), 2.0)
    assert page.tables == ()
    assert page.rejected == {("out_of_range", "gpu_energy_joules_per_second"): 1}


def test_labels_that_come_and_go_do_not_interrupt_a_counter() -> None:
    exporter = Exporter()
    exporter.says(gpu(REPLAYS, 0, 100, pod="train-0"), 10.0)
    assert only(exporter.says(gpu(REPLAYS, 0, 103), 11.0), RATE) == 3.0
    assert only(exporter.says(gpu(REPLAYS, 0, 104, pod="train-1"), 12.0), RATE) == 1.0


def test_totals_stay_totals() -> None:
    exporter = Exporter()
    exporter.says(gpu("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 0, 3), 1.0)
    page = exporter.says(gpu("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 0, 5), 2.0)
    assert only(page, "gpu_ecc_uncorrectable_total") == 5.0


def test_a_rate_that_the_type_line_calls_a_counter_is_taken_as_it_is() -> None:
    page = cleaned(
        "# TYPE DCGM_FI_PROF_PCIE_TX_BYTES counter\n" + gpu("DCGM_FI_PROF_PCIE_TX_BYTES", 0, 421894)
    )
    assert only(page, "gpu_pcie_tx_bytes_per_second") == 421894.0


@given(
    st.lists(
        st.tuples(st.floats(0.1, 30), st.one_of(st.floats(0, 1e6), st.just(math.nan))),
        min_size=1,
        max_size=12,
    )
)
def test_rates_times_their_seconds_add_up_to_what_the_counter_grew(
    steps: list[tuple[float, float]],
) -> None:
    readings = CounterReadings([LANE], gap_seconds=1000.0)
    now, total, last_seen, added = 0.0, 0.0, 0.0, 0.0
    readings.rates(np.array([0.0]), now)
    seen = 0.0
    for passed, growth in steps:
        now += passed
        if math.isnan(growth):
            readings.rates(np.array([math.nan]), now)
            continue
        total += growth
        (rate,) = readings.rates(np.array([total]), now).values
        added += rate * (now - last_seen)
        last_seen, seen = now, total
    assert added == pytest.approx(seen, rel=1e-6, abs=1e-6)
