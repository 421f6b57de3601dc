"""Tables of nvidia-smi get the names that nvidia_gpu_exporter gives their columns."""

from __future__ import annotations

from paramedic.ingest.contract import NodeName
from paramedic.ingest.exposition.smi_query import has_smi_query, pages_of_smi_query
from paramedic.ingest.sources.port import RawPage

TABLE = """\
some words, and a comma
timestamp, uuid, index, name, utilization.gpu [%], power.draw [W], memory.used [MiB], \
clocks.current.sm [MHz], clocks_event_reasons.active, remapped_rows.pending, \
gpu_recovery_action, ecc.errors.uncorrected.aggregate.sram.thresholdExceeded, \
clocks_event_reasons_counters.sw_power_cap [us], temperature.memory
2026/07/03 22:11:09.763, GPU-aa, 0, NVIDIA H200, 93 %, 627.40 W, 10 MiB, 1980 MHz, \
0x0000000000000004, No, None, 0, 1500000 us, 40
2026/07/03 22:11:09.770, GPU-bb, 1, NVIDIA H200, [N/A], 70.00 W, 0 MiB, 345 MHz, \
0x0000000000000001, Yes, Drain and Reset, 2, 0 us, N/A

after the table, 5
"""


def by_name(page: RawPage, gpu: str) -> dict[str, float]:
    return {
        one.name: value
        for one, value in zip(page.series, page.values, strict=True)
        if one.labels["gpu"] == gpu
    }


def test_columns_become_the_exporters_series_in_its_units() -> None:
    (page,) = pages_of_smi_query(TABLE, "capture.txt", 1.0, NodeName("n1"))
    assert by_name(page, "0") == {
        "nvidia_smi_utilization_gpu_ratio": 0.93,
        "nvidia_smi_power_draw_watts": 627.4,
        "nvidia_smi_memory_used_bytes": 10 * 1048576.0,
        "nvidia_smi_clocks_current_sm_clock_hz": 1.98e9,
        "nvidia_smi_clocks_event_reasons_active": 4.0,
        "nvidia_smi_remapped_rows_pending": 0.0,
        "nvidia_smi_gpu_recovery_action": 0.0,
        "nvidia_smi_ecc_errors_uncorrected_aggregate_sram_threshold_exceeded": 0.0,
        "nvidia_smi_clocks_event_reasons_counters_sw_power_cap_seconds": 1.5,
        "nvidia_smi_temperature_memory": 40.0,
    }
    assert page.series[0].labels == {"uuid": "GPU-aa", "gpu": "0"}
    assert (page.origin, page.default_node) == ("capture.txt", "n1")


def test_what_is_not_available_is_absent() -> None:
    (page,) = pages_of_smi_query(TABLE, "capture.txt", 1.0)
    assert page.unreadable == {"not_available": 2}
    second = by_name(page, "1")
    assert "nvidia_smi_utilization_gpu_ratio" not in second
    assert "nvidia_smi_temperature_memory" not in second
    assert second["nvidia_smi_remapped_rows_pending"] == 1.0
    assert second["nvidia_smi_gpu_recovery_action"] == 4.0


def test_a_table_is_dated_by_its_own_column() -> None:
    (page,) = pages_of_smi_query(TABLE, "capture.txt", 1.0)
    assert page.taken_seconds == 1783116669.770
    (undated,) = pages_of_smi_query("uuid, power.draw [W]\nGPU-a, 1 W\n", "c", 5.0)
    assert undated.taken_seconds == 5.0


def test_every_table_of_a_text_is_a_page() -> None:
    assert len(pages_of_smi_query(TABLE * 2, "capture.txt", 1.0)) == 2


def test_tables_that_name_no_gpu_or_hold_no_number_are_not_taken_for_one() -> None:
    assert has_smi_query(TABLE)
    assert not has_smi_query("pid, process_name, used_gpu_memory [MiB]\n1, x, 3 MiB\n")
    assert not has_smi_query("uuid, name\nGPU-a, x\n")
    assert not has_smi_query("a, b and c\n")


def test_what_is_left_out_of_a_table_is_counted_by_its_reason() -> None:
    (page,) = pages_of_smi_query(
        "timestamp, uuid, name, power.draw [W], fan.speed [%]\n"
        "2026/07/03 22:11:09.763, GPU-a, H200, 1 W, [Not Supported]\n"
        "2026/07/03 22:11:09.763, GPU-b, H2\n"
        "2026/99/03 22:11:09.763, GPU-c, H200, 2 W, 3 %\n"
        "2026/07/03 22:11:09.763, GPU-d, H200, much, 4 %\n",
        "c", 5.0,
    )  # fmt: skip
    assert list(page.values) == [1.0, 0.04]
    assert page.unreadable == {
        "not_available": 1, "bad_row": 1, "bad_time": 1, "not_a_number": 1
    }  # fmt: skip


def test_a_table_ends_where_the_next_begins() -> None:
    first, second = pages_of_smi_query("uuid, power.draw [W]\nGPU-a, 1 W\n" * 2, "c", 5.0)
    assert list(first.values) == list(second.values) == [1.0]
    assert not first.unreadable
