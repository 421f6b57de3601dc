"""What is there is known of every GPU and host, also where a page cannot show a value yet."""

from __future__ import annotations

from ingest.doctor.looked import START, Exporters, gpu_names, seen_after
from paramedic.ingest.contract import Entity, NodeName

POWER = ("DCGM_FI_DEV_POWER_USAGE",)


def test_a_gauge_is_there_for_the_gpus_that_show_it() -> None:
    exporters = Exporters()
    seen = seen_after(exporters.gpus("n1", names=POWER), exporters.gpus("n2", names=gpu_names()))
    found = seen.coverage.rows_of(("gpu_power_watts",), Entity.GPU)
    assert found == {("n1", 0), ("n1", 1), ("n2", 0), ("n2", 1)}
    assert {node for node, _ in seen.coverage.rows_of(("gpu_sm_clock_hertz",), Entity.GPU)} == {
        "n2"
    }
    assert seen.coverage.gpus_of() == {"n1": 2, "n2": 2}


def test_counters_quotients_and_xids_are_there_with_the_first_page() -> None:
    exporters = Exporters()
    names = (*POWER, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_EXP_XID_ERRORS_TOTAL")
    seen = seen_after(exporters.gpus(names=names), exporters.host())
    for metric in ("gpu_pcie_replays_per_second", "gpu_xid_events_total"):
        assert len(seen.coverage.rows_of((metric,), Entity.GPU)) == 2
    for metric in ("cpu_utilization_ratio", "memory_used_ratio", "disk_write_latency_seconds"):
        assert seen.coverage.rows_of((metric,), Entity.NODE) == {("n1", None)}


def test_a_blank_is_not_there() -> None:
    blank = 'DCGM_FI_DEV_MEMORY_TEMP{gpu="0",Hostname="n1"} 9223372036854775794'
    power = 'DCGM_FI_DEV_POWER_USAGE{gpu="0",Hostname="n1"} 400'
    seen = seen_after(Exporters().page([blank, power], "n1:9400", START, "n1"))
    assert not seen.coverage.rows_of(("gpu_memory_temperature_celsius",), Entity.GPU)
    assert seen.rejected == {("blank_sentinel", "gpu_memory_temperature_celsius"): 1}


def test_a_metric_that_joins_late_is_seen_at_once() -> None:
    exporters = Exporters()
    pages = [exporters.gpus(second=START + at, names=POWER) for at in range(10)]
    seen = seen_after(*pages, exporters.gpus(second=START + 10))
    assert seen.coverage.rows_of(("gpu_sm_clock_hertz",), Entity.GPU)
    assert seen.coverage.hosts == set()


def test_unknown_metrics_of_gpus_are_columns_too() -> None:
    seen = seen_after(Exporters().gpus(names=("SOMETHING_NEW",)))
    assert "something_new" in seen.coverage.columns_of_gpus()
    assert seen.coverage.gpus_of() == {NodeName("n1"): 2}
