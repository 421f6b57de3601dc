"""Metrics fall into families by the catalogue, or else by their name."""

from __future__ import annotations

import pytest

from paramedic.models.pattern.metric_kinds import ABSENCE, MEAN_OF_NODE, Family, family_of


@pytest.mark.parametrize(
    ("metric", "family"),
    [
        ("gpu_tensor_active_ratio", Family.SHARE),
        ("cpu_utilization_ratio", Family.SHARE),
        ("rdma_tx_bytes_per_second", Family.FLOW),
        ("gpu_temperature_celsius", Family.SIZE),
        ("collective_seconds", Family.TIME),
        ("pfc_tx_packets_per_second", Family.COUNT),
        ("gpu_ecc_correctable_total", Family.GROWTH),
        ("step", Family.GROWTH),
        ("gpu_xid", Family.STATE),
        (ABSENCE + "gpu", Family.ABSENCE),
    ],
)
def test_a_catalogued_metric_is_what_its_properties_say(metric: str, family: Family) -> None:
    assert family_of(metric) is family


def test_a_nodes_mean_is_of_the_family_of_what_is_averaged() -> None:
    assert family_of(MEAN_OF_NODE + "step_seconds") is Family.TIME


@pytest.mark.parametrize(
    ("metric", "family"),
    [
        ("vendor_lane_errors_per_second", Family.COUNT),
        ("vendor_lane_bytes_per_second", Family.FLOW),
        ("vendor_lane_errors_total", Family.GROWTH),
        ("vendor_fan", Family.SIZE),
    ],
)
def test_a_metric_nobody_knows_is_judged_by_its_ending(metric: str, family: Family) -> None:
    assert family_of(metric) is family
