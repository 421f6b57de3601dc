"""Names that have had two units are read by what their page gives away."""

from __future__ import annotations

import pytest

from ingest.cleaning.pages import Exporter, cleaned, column, gpu, only

UTIL = "DCGM_FI_DEV_GPU_UTIL_RATIO"
CLOCK = "DCGM_FI_DEV_SM_CLOCK_HERTZ"
ENERGY = "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL"
RATIO = "gpu_utilization_ratio"


def test_a_fraction_is_a_ratio_and_so_are_its_neighbours() -> None:
    page = cleaned(gpu(UTIL, 0, 0.5) + gpu(UTIL, 1, 1) + gpu(UTIL, 2, 0))
    assert column(page, RATIO) == {("n1", 0): 0.5, ("n1", 1): 1.0, ("n1", 2): 0.0}


def test_a_value_above_one_makes_percentages_of_all() -> None:
    page = cleaned(gpu(UTIL, 0, 93) + gpu(UTIL, 1, 1) + gpu(UTIL, 2, 100))
    assert column(page, RATIO) == {("n1", 0): 0.93, ("n1", 1): 0.01, ("n1", 2): 1.0}


def test_a_clock_settles_it_for_the_whole_node() -> None:
    newer = cleaned(gpu(UTIL, 0, 1) + gpu(CLOCK, 0, 1.98e9))
    older = cleaned(gpu(UTIL, 0, 1) + gpu(CLOCK, 0, 1980))
    assert (only(newer, RATIO), only(newer, "gpu_sm_clock_hertz")) == (1.0, 1.98e9)
    assert (only(older, RATIO), only(older, "gpu_sm_clock_hertz")) == (0.01, 1.98e9)


def test_a_spike_does_not_turn_ratios_into_percentages() -> None:
    page = cleaned(gpu(UTIL, 0, 1) + gpu(UTIL, 1, 57) + gpu(CLOCK, 0, 1.98e9))
    assert column(page, RATIO) == {("n1", 0): 1.0}
    assert page.rejected == {("out_of_range", RATIO): 1}
    assert column(cleaned(gpu(UTIL, 0, 0.5) + gpu(UTIL, 1, 4294967295)), RATIO) == {("n1", 0): 0.5}


def test_one_alone_says_nothing_and_zero_is_zero_in_both() -> None:
    page = cleaned(gpu(UTIL, 0, 1) + gpu(UTIL, 1, 0))
    assert column(page, RATIO) == {("n1", 1): 0.0}
    assert page.rejected == {("unit_undecided", RATIO): 1}


@pytest.mark.parametrize(("first", "meant"), [(0.25, 1.0), (25, 0.01)])
def test_what_was_decided_for_a_node_before_is_remembered(first: float, meant: float) -> None:
    exporter = Exporter()
    exporter.says(gpu(UTIL, 0, first), 1.0)
    assert only(exporter.says(gpu(UTIL, 0, 1), 2.0), RATIO) == meant


def test_nodes_are_decided_each_for_itself() -> None:
    page = cleaned(gpu(UTIL, 0, 60, hostname="old") + gpu(UTIL, 0, 0.6, hostname="new"))
    assert column(page, RATIO) == {("old", 0): 0.6, ("new", 0): 0.6}


def test_energy_follows_the_other_names_of_its_page() -> None:
    exporter = Exporter()
    for second, joules in ((1.0, 5000), (2.0, 5400)):
        newer = exporter.says(gpu(ENERGY, 0, joules) + gpu(UTIL, 0, 0.9), second)
    assert only(newer, "gpu_energy_joules_per_second") == 400.0
    exporter = Exporter()
    for second, millijoules in ((1.0, 5_000_000), (2.0, 5_400_000)):
        older = exporter.says(gpu(ENERGY, 0, millijoules) + gpu(UTIL, 0, 90), second)
    assert only(older, "gpu_energy_joules_per_second") == 400.0


def test_an_upgrade_is_noticed_when_its_page_gives_it_away() -> None:
    exporter = Exporter()
    exporter.says(gpu(UTIL, 0, 80), 1.0)
    assert only(exporter.says(gpu(UTIL, 0, 0.8), 2.0), RATIO) == 0.8
