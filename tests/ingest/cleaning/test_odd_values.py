"""Blanks, spikes, infinities and texts never become values, and each is counted by its reason."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.cleaning.pages import Exporter, cleaned, column, gpu, only
from paramedic.ingest.cleaning.values import is_blank

MEMORY_TEMP = "DCGM_FI_DEV_MEMORY_TEMP"
POWER = "DCGM_FI_DEV_POWER_USAGE"


@pytest.mark.parametrize(
    "said",
    [
        "2147483632",
        "2147483633",
        "2147483634",
        "2147483635",
        "9223372036854775792",
        "9223372036854775793",
        "9223372036854775794",
        "9223372036854775795",
        "9223372036854775808",
        "9.223372036854776e+18",
        "9223372036854776000",
        "140737488355328",
        "140737488355328.000000",
        "140737488355329",
        "140737488355330",
        "140737488355331",
    ],
)
def test_every_form_of_a_blank_is_known(said: str) -> None:
    page = cleaned(gpu(MEMORY_TEMP, 0, said) + gpu(POWER, 0, 100))
    assert column(page, "gpu_memory_temperature_celsius") == {}
    assert page.rejected == {("blank_sentinel", "gpu_memory_temperature_celsius"): 1}
    assert only(page, "gpu_power_watts") == 100.0


@pytest.mark.parametrize(
    "name", ["dcgm_fb_used", "DCGM_FI_DEV_FB_USED_BYTES", "DCGM_FI_DEV_XID_ERROR"]
)
def test_every_dialect_of_dcgm_has_blanks(name: str) -> None:
    (reason,) = cleaned(gpu(name, 0, 9223372036854775794)).rejected
    assert reason[0] == "blank_sentinel"


def test_the_neighbours_of_a_blank_are_values() -> None:
    around = np.array([2147483631, 2147483636, 140737488355327, 140737488355332, 9.2e18])
    assert not is_blank(around).any()


def test_other_exporters_mean_what_they_say() -> None:
    exporter = Exporter()
    exporter.says('node_network_receive_bytes_total{device="eth0"} 2147483632\n', 10.0)
    page = exporter.says('node_network_receive_bytes_total{device="eth0"} 2147483635\n', 11.0)
    assert only(page, "tcp_throughput_bytes_per_second") == 3.0
    assert not page.rejected


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("DCGM_FI_DEV_GPU_UTIL", "4294967295"),
        ("DCGM_FI_DEV_GPU_UTIL", "101"),
        ("DCGM_FI_DEV_GPU_UTIL", "-1"),
        ("DCGM_FI_DEV_GPU_TEMP", "345"),
        ("DCGM_FI_DEV_GPU_TEMP", "82505"),
        ("DCGM_FI_DEV_GPU_TEMP", "644245923"),
        ("DCGM_FI_DEV_GPU_TEMP", "4278190080"),
        ("DCGM_FI_DEV_MEMORY_TEMP", "0"),
        ("DCGM_FI_PROF_SM_ACTIVE", "1.5"),
        ("DCGM_FI_DEV_FB_USED", "1e12"),
        ("DCGM_FI_DEV_POWER_USAGE", "1e308"),
    ],
)
def test_what_no_gpu_can_show_is_a_spike(name: str, said: str) -> None:
    page = cleaned(gpu(name, 0, said))
    assert page.tables == ()
    ((reason, _),) = page.rejected
    assert reason == "out_of_range"


@pytest.mark.parametrize(
    ("said", "reason"), [("NaN", "not_a_number"), ("+Inf", "infinite"), ("-Inf", "infinite")]
)
def test_what_is_no_finite_number_is_left_out(said: str, reason: str) -> None:
    page = cleaned(gpu(POWER, 0, said) + gpu("UNKNOWN_METRIC", 0, said))
    assert page.tables == ()
    assert page.rejected == {(reason, "gpu_power_watts"): 1, (reason, "unknown_metric"): 1}


def test_lines_that_cannot_be_read_are_counted_with_the_rest() -> None:
    page = cleaned(gpu(POWER, 0, "ERROR - FAILED TO CONVERT TO STRING") + gpu(POWER, 1, 5))
    assert page.rejected == {("not_a_number", ""): 1}
    assert only(page, "gpu_power_watts") == 5.0


def test_the_edges_of_a_range_are_inside() -> None:
    page = cleaned(gpu("DCGM_FI_DEV_GPU_UTIL", 0, 0) + gpu("DCGM_FI_DEV_GPU_UTIL", 1, 100))
    assert column(page, "gpu_utilization_ratio") == {("n1", 0): 0.0, ("n1", 1): 1.0}


def test_unknown_metrics_of_a_gpu_are_kept_as_they_are() -> None:
    page = cleaned(gpu("DCGM_FI_DEV_NEW_THING", 2, -7.5) + "go_goroutines 5\n")
    assert column(page, "dcgm_fi_dev_new_thing") == {("n1", 2): -7.5}
    assert page.uncatalogued == ("DCGM_FI_DEV_NEW_THING", "go_goroutines")
    assert not page.rejected


@given(st.floats())
def test_no_value_leaves_the_range_of_its_metric(value: float) -> None:
    page = cleaned(gpu("DCGM_FI_DEV_GPU_UTIL", 0, repr(value)))
    kept = only(page, "gpu_utilization_ratio")
    assert (kept is None) == (sum(page.rejected.values()) == 1)
    assert kept is None or (0 <= kept <= 1 and math.isclose(kept, value / 100))
