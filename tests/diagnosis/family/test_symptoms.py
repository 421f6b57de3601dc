"""A signature becomes symptoms, whatever the scale of its metrics and whoever measured it."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.diagnosis.family.signature import Departure, Extent, Signature
from paramedic.diagnosis.family.symptoms import seen

SYMPTOMS = shipped_knowledge().symptoms


def surely(signature: Signature) -> dict[str, float]:
    return dict(
        zip((one.name for one in SYMPTOMS), seen(signature, SYMPTOMS).tolist(), strict=True)
    )


def departed(**deviations: float) -> Signature:
    departures = {metric: Departure(deviation) for metric, deviation in deviations.items()}
    return Signature(Extent.ONE_GPU, departures)


def test_a_departure_is_a_symptom_in_its_direction_only() -> None:
    found = surely(departed(gpu_temperature_celsius=9.0))
    assert found["chip_warmer"] > 0.9
    assert found["chip_cooler"] < 0.01


def test_any_of_a_symptoms_metrics_shows_it() -> None:
    found = surely(departed(rdma_tx_bytes_per_second=1.0, tcp_throughput_bytes_per_second=-30.0))
    assert found["network_bytes_lower"] > 0.9


def test_what_nobody_observed_is_neither_there_nor_not() -> None:
    found = surely(departed(gpu_power_watts=math.nan, gpu_sm_clock_hertz=-20.0))
    assert math.isnan(found["power_lower"])
    assert math.isnan(found["chip_warmer"])


def test_what_follows_counts_for_less_than_what_leads() -> None:
    alone = surely(departed(gpu_power_watts=-6.0))["power_lower"]
    beside = surely(departed(gpu_power_watts=-6.0, dataloader_seconds=200.0))["power_lower"]
    assert beside < 0.5 < alone


def test_what_follows_from_nothing_else_is_as_sure_beside_larger_departures() -> None:
    found = surely(departed(disk_read_latency_seconds=9.0, gpu_utilization_ratio=-55.0))
    assert found["disk_slow"] > 0.9


def test_a_quiet_counter_does_not_drown_everything_else() -> None:
    found = surely(departed(pfc_tx_packets_per_second=40_000.0, dataloader_seconds=50.0))
    assert found["loading_takes_longer"] > 0.9


def test_a_counter_that_grew_is_seen_without_a_departure() -> None:
    grown = frozenset({"gpu_ecc_correctable_total"})
    assert surely(Signature(Extent.ONE_GPU, {}, grown=grown))["corrected_errors"] > 0.9


def test_codes_speak_for_their_family_and_unknown_codes_for_none() -> None:
    found = surely(Signature(Extent.ONE_GPU, {}, xids=frozenset({79, 99_999})))
    told = {name for name, share in found.items() if name.startswith("told_") and share > 0.5}
    assert told == {"told_gpu_card_drop"}


def test_absence_and_stops_are_taken_as_they_are_given() -> None:
    found = surely(Signature(Extent.HOST, {}, rows_missing=True, has_stopped=True))
    signs = ("rows_missing", "cards_missing", "has_stopped", "has_exited")
    assert [round(found[name]) for name in signs] == [1, 0, 1, 0]


def test_reasons_for_a_low_clock_are_told_apart_by_their_bits() -> None:
    found = surely(Signature(Extent.ONE_GPU, {}, slow_reasons=0x40 | 0x4))
    assert found["slowed_by_heat"] > 0.9
    assert found["slowed_by_power"] < 0.1
    assert surely(Signature(Extent.ONE_GPU, {}, slow_reasons=0x80))["slowed_by_power"] > 0.9


def test_reasons_that_nobody_tells_are_neither_there_nor_not() -> None:
    found = surely(Signature(Extent.ONE_GPU, {}))
    assert math.isnan(found["slowed_by_heat"])
    assert math.isnan(found["slowed_by_power"])


DEVIATIONS = st.floats(-1e6, 1e6) | st.just(math.nan)
METRICS = st.sampled_from(sorted({m for one in SYMPTOMS for m in one.metrics}))


@given(st.dictionaries(METRICS, DEVIATIONS, max_size=12))
def test_symptoms_are_shares_and_unknown_metrics_change_none(deviations: dict[str, float]) -> None:
    found = seen(departed(**deviations), SYMPTOMS)
    known = found[~np.isnan(found)]
    assert ((known > 0.0) & (known < 1.0)).all()
    more = seen(departed(**deviations, vendor_secret=1e9), SYMPTOMS)
    np.testing.assert_array_equal(found, more)
