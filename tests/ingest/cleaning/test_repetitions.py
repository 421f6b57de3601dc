"""Series that repeat each other, and exporters that say the same thing twice."""

from __future__ import annotations

from ingest.cleaning.pages import Exporter, cleaned, column, gpu, only
from paramedic.ingest.cleaning.cleaner import TelemetryCleaner

UTIL = "DCGM_FI_DEV_GPU_UTIL"
RATIO = "gpu_utilization_ratio"


def test_twins_of_a_gpu_that_two_jobs_share_are_not_added_up() -> None:
    page = cleaned(gpu(UTIL, 0, 40, hpc_job="17") + gpu(UTIL, 0, 40, hpc_job="18"))
    assert only(page, RATIO) == 0.4
    assert page.rejected == {("duplicate", RATIO): 1}


def test_slices_of_a_gpu_are_not_added_up_and_the_whole_speaks_before_them() -> None:
    slices = "".join(
        gpu("DCGM_FI_DEV_POWER_USAGE", 0, 100 + n, GPU_I_ID=str(n), GPU_I_PROFILE="1g.6gb")
        for n in range(3)
    )
    page = cleaned(slices + gpu("DCGM_FI_DEV_POWER_USAGE", 0, 250))
    assert only(page, "gpu_power_watts") == 250.0
    assert page.rejected == {("duplicate", "gpu_power_watts"): 3}
    assert only(cleaned(slices), "gpu_power_watts") == 100.0


def test_when_the_first_of_two_is_blank_the_second_speaks() -> None:
    page = cleaned(gpu(UTIL, 0, 9223372036854775794, hpc_job="17") + gpu(UTIL, 0, 40, hpc_job="18"))
    assert only(page, RATIO) == 0.4


def test_the_same_series_twice_on_a_page_is_one() -> None:
    assert only(cleaned(gpu(UTIL, 0, 40) + gpu(UTIL, 0, 41)), RATIO) == 0.4


def test_two_dialects_on_one_page_are_not_mixed() -> None:
    page = cleaned(
        gpu(UTIL, 0, 40)
        + gpu(UTIL, 1, 50)
        + gpu("DCGM_FI_DEV_GPU_UTIL_RATIO", 0, 0.41)
        + gpu("DCGM_FI_DEV_GPU_UTIL_RATIO", 2, 0.7)
    )
    assert column(page, RATIO) == {("n1", 0): 0.4, ("n1", 1): 0.5, ("n1", 2): 0.7}
    assert page.rejected == {("other_dialect", RATIO): 1}


def test_the_dialect_that_was_seen_first_stays_until_it_is_away_for_a_window() -> None:
    cleaner = TelemetryCleaner()
    dcgm = Exporter("dcgm", cleaner=cleaner)
    smi = Exporter("smi", cleaner=cleaner)
    line = 'nvidia_smi_utilization_gpu_ratio{uuid="0"} 0.9\n'
    dcgm.says(gpu(UTIL, 0, 40), 100.0)
    assert only(smi.says(line, 100.5), RATIO) is None
    assert smi.says(line, 160.0).rejected == {("other_dialect", RATIO): 1}
    assert only(smi.says(line, 160.5), RATIO) == 0.9
    back = dcgm.says(gpu(UTIL, 0, 40), 161.0)
    assert only(back, RATIO) is None
    assert back.rejected == {("other_dialect", RATIO): 1}


def test_blanks_of_the_first_dialect_do_not_keep_the_second_out_for_ever() -> None:
    exporter = Exporter()
    both = gpu(UTIL, 0, "{}") + gpu("DCGM_FI_DEV_GPU_UTIL_RATIO", 0, 0.7)
    exporter.says(both.replace("{}", "40"), 0.0)
    blank = both.replace("{}", "9223372036854775794")
    assert only(exporter.says(blank, 60.0), RATIO) is None
    assert only(exporter.says(blank, 61.0), RATIO) == 0.7


def test_other_metrics_and_other_gpus_are_not_touched_by_a_dialect() -> None:
    page = cleaned(
        gpu(UTIL, 0, 40) + 'nvidia_smi_power_draw_watts{uuid="0"} 7\n' + gpu(UTIL, 1, 30)
    )
    assert column(page, RATIO) == {("n1", 0): 0.4, ("n1", 1): 0.3}
    assert only(page, "gpu_power_watts") == 7.0
    assert not page.rejected


def test_of_two_names_for_one_thing_the_catalogues_first_is_taken_wherever_it_stands() -> None:
    page = cleaned(
        gpu("DCGM_FI_DEV_POWER_USAGE_INSTANT", 0, 500) + gpu("DCGM_FI_DEV_POWER_USAGE", 0, 400)
    )
    assert only(page, "gpu_power_watts") == 400.0


def test_an_unchanged_page_costs_no_new_plan() -> None:
    exporter = Exporter()
    exporter.says(gpu(UTIL, 0, 40), 1.0)
    plan = exporter.cleaner._origins[exporter.origin].plan
    exporter.says(gpu(UTIL, 0, 50), 2.0)
    assert exporter.cleaner._origins[exporter.origin].plan is plan
    exporter.says(gpu(UTIL, 0, 50) + gpu(UTIL, 1, 1), 3.0)
    assert exporter.cleaner._origins[exporter.origin].plan is not plan


def test_a_forgotten_origin_is_a_new_one() -> None:
    exporter = Exporter()
    exporter.says(gpu(UTIL, 0, 40), 1.0)
    exporter.cleaner.forget(exporter.origin)
    exporter.cleaner.forget("http://never.seen")
    assert exporter.origin not in exporter.cleaner._origins


def test_many_nodes_of_one_answer_are_sorted_rows_of_one_table() -> None:
    page = cleaned(
        "".join(
            gpu(UTIL, index, 10 * index, hostname=node, UUID=f"{node}-{index}")
            for node in ("n2", "n1")
            for index in (1, 0)
        )
    )
    (table,) = page.tables
    assert (table.nodes, table.indices) == (("n1", "n1", "n2", "n2"), (0, 1, 0, 1))
    assert table.columns == {RATIO: (0.0, 0.1, 0.0, 0.1)}
