"""What metrics are about: every metric of the catalogue has its place, whatever the constants."""

from __future__ import annotations

import doctest
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.catalogue.catalogue import shipped_catalogue
from paramedic.ingest.catalogue.metric import Kind
from paramedic.models.departure import character
from paramedic.models.departure.character import (
    About,
    Character,
    Characters,
    Scale,
    character_of,
    characters_of,
    telling,
)

CATALOGUE = shipped_catalogue().metrics
TELLING = tuple(metric for metric in CATALOGUE if character_of(metric) is not None)
RATES = tuple(metric for metric in TELLING if metric.endswith("_per_second"))


def known(metric: str) -> Character:
    found = character_of(metric)
    assert found is not None
    return found


def test_the_examples_in_the_module_are_true() -> None:
    assert doctest.testmod(character).failed == 0


@pytest.mark.parametrize(
    "metric", [name for name, metric in CATALOGUE.items() if metric.kind is Kind.STATE]
)
def test_codes_and_flags_are_not_compared(metric: str) -> None:
    assert character_of(metric) is None


@pytest.mark.parametrize(
    "metric", ["filesystem_used_ratio", "load_average", "some_new_total", "gpu_new_total"]
)
def test_what_tells_nothing_of_now_is_not_compared(metric: str) -> None:
    assert character_of(metric) is None


def test_running_totals_that_are_compared_count_by_what_they_grow() -> None:
    totals = [metric for metric in TELLING if metric.endswith("_total")]
    assert totals
    assert all(known(metric).takes_increments for metric in totals)
    assert not any(known(metric).takes_increments for metric in set(TELLING) - set(totals))


def test_an_unknown_metric_of_a_gpu_is_work_and_one_of_a_host_is_a_sign() -> None:
    assert known("gpu_novel_active_ratio").about is About.WORK
    assert known("novel_queue_length").about is About.SIGN


@pytest.mark.parametrize("metric", [one for one in TELLING if one.endswith("latency_seconds")])
def test_latencies_are_compared_as_ratios_and_a_short_one_is_nobodys_fault(metric: str) -> None:
    assert known(metric).scale is Scale.LOGARITHM
    assert known(metric).only_rises


@pytest.mark.parametrize(
    "metric",
    [one for one in RATES if any(word in one for word in ("error", "replay", "retrans", "drop"))],
)
def test_of_errors_the_first_few_say_most_and_fewer_are_nobodys_fault(metric: str) -> None:
    assert known(metric).scale is Scale.COUNTED
    assert known(metric).only_rises


def test_of_what_is_counted_any_number_may_be_a_passing_burst_of_congestion_only() -> None:
    counted = [known(one) for one in TELLING if known(one).scale is Scale.COUNTED]
    for one in counted:
        assert (one.passing_rate > 0) is (one.about is not About.CONGESTION)
    assert {About.CONGESTION, About.LOSSES} < {one.about for one in counted}


def test_what_is_no_event_comes_at_no_rate() -> None:
    others = [one for one in TELLING if known(one).scale is not Scale.COUNTED]
    assert np.isinf(characters_of(tuple(others)).passing_rate).all()


def test_a_busy_host_needs_more_patience_than_a_sick_gpu() -> None:
    usage = [known(one) for one in TELLING if known(one).about is About.USAGE]
    others = [known(one) for one in TELLING if known(one).about is not About.USAGE]
    assert min(one.patience_seconds for one in usage) > max(
        one.patience_seconds for one in others if one.about is not About.CONGESTION
    )


def test_a_clock_that_is_down_needs_no_company_and_activity_does() -> None:
    clock, activity = known("gpu_sm_clock_hertz"), known("gpu_tensor_active_ratio")
    assert clock.lone_seconds == 0
    assert activity.lone_seconds > activity.patience_seconds


def test_nobody_is_odd_for_a_cooler_card_or_a_calmer_host() -> None:
    for metric in ("gpu_temperature_celsius", "gpu_memory_temperature_celsius"):
        assert known(metric).only_rises
    assert all(known(one).only_rises for one in TELLING if known(one).about is About.USAGE)


def test_a_clock_that_is_up_is_nobodys_fault_and_nothing_else_only_falls() -> None:
    found = characters_of(TELLING)
    falls = {found.metrics[at] for at in np.flatnonzero(found.only_falls)}
    assert falls == {"gpu_sm_clock_hertz"}
    assert not (found.only_falls & found.only_rises).any()


def test_how_much_memory_is_taken_is_another_matter_than_who_is_busy() -> None:
    for metric in ("memory_used_ratio", "process_resident_bytes"):
        assert known(metric).about is About.FOOTPRINT
        assert known(metric).only_rises
        assert known("gpu_power_watts").patience_seconds < known(metric).patience_seconds
        assert known(metric).patience_seconds < known("cpu_utilization_ratio").patience_seconds


def test_a_busy_disk_is_neither_work_nor_a_busy_host() -> None:
    found = characters_of(("disk_read_latency_seconds", "disk_throughput_bytes_per_second"))
    assert [known(one).about for one in found.metrics] == [About.DISK, About.USAGE]
    assert found.usage.tolist() == [False, True]
    assert not found.work.any()


@pytest.mark.parametrize(
    "metrics",
    [
        ("ib_symbol_errors_per_second", "network_drops_per_second", "tcp_retransmits_per_second"),
        ("gpu_ecc_correctable_total", "gpu_ecc_uncorrectable_total"),
        ("memory_used_ratio", "process_resident_bytes"),
        ("disk_read_latency_seconds", "disk_write_latency_seconds"),
    ],
    ids=["losses", "memory corrections", "footprint", "disk"],
)
def test_one_matter_are(metrics: tuple[str, ...]) -> None:
    assert frozenset(metrics) in together(characters_of(TELLING))


def together(found: Characters) -> set[frozenset[str]]:
    return {frozenset(found.metrics[at] for at in matter) for matter in found.matters}


def test_both_directions_of_a_link_are_one_matter_and_power_and_clock_are_two() -> None:
    matters = together(characters_of(TELLING))
    for link in ("gpu_pcie", "gpu_nvlink", "rdma"):
        assert {f"{link}_{way}_bytes_per_second" for way in ("rx", "tx")} in matters
    in_some = frozenset().union(*matters)
    assert not {"gpu_power_watts", "gpu_sm_clock_hertz", "gpu_temperature_celsius"} & in_some


def test_a_metric_without_a_fellow_is_no_matter() -> None:
    assert characters_of(("gpu_pcie_rx_bytes_per_second", "gpu_power_watts")).matters == ()


def test_work_is_what_moves_with_the_steps_and_temperature_lags() -> None:
    metrics = (
        "gpu_power_watts", "rdma_tx_bytes_per_second", "gpu_temperature_celsius",
        "gpu_memory_temperature_celsius", "network_round_trip_seconds", "cpu_utilization_ratio",
    )  # fmt: skip
    assert characters_of(metrics).work.tolist() == [True, True, False, False, False, False]


@given(st.lists(st.sampled_from(TELLING), unique=True, min_size=1, max_size=8), st.randoms())
@settings(max_examples=15)
def test_columns_follow_their_metrics_in_whatever_order(metrics: list[str], random: Random) -> None:
    shuffled = metrics.copy()
    random.shuffle(shuffled)
    one, other = characters_of(tuple(metrics)), characters_of(tuple(shuffled))
    order = [metrics.index(metric) for metric in shuffled]
    for column in (
        "patience_seconds", "lone_seconds", "floor_share", "floor", "passing_rate", "only_rises",
    ):  # fmt: skip
        assert getattr(one, column).shape == (len(metrics), 1)
        np.testing.assert_array_equal(getattr(one, column)[order], getattr(other, column))
    for column in ("logarithm", "counted", "increments", "work"):
        np.testing.assert_array_equal(getattr(one, column)[order], getattr(other, column))
    assert together(one) == together(other)


def test_alone_a_metric_never_needs_less_patience_than_in_company() -> None:
    found = characters_of(TELLING)
    assert (found.lone_seconds >= found.patience_seconds).all()


@given(st.lists(st.sampled_from(tuple(CATALOGUE)), unique=True, max_size=10).map(tuple))
@settings(max_examples=15)
def test_telling_gives_the_places_of_what_can_be_compared(metrics: tuple[str, ...]) -> None:
    kept = telling(metrics)
    assert list(kept) == sorted(kept)
    assert {metrics[at] for at in kept} == set(metrics) & set(TELLING)


def test_a_job_without_a_single_telling_metric_has_empty_columns() -> None:
    found = characters_of(())
    assert found.patience_seconds.shape == found.only_rises.shape == (0, 1)
    assert found.matters == ()
