"""Each lack is one line with its level, and with the very line that mends it."""

from __future__ import annotations

import pytest

from ingest.doctor.looked import (
    SCRAPED,
    START,
    Exporters,
    checks_of,
    gpu_names,
    healthy,
    host_names,
    pasted,
    report,
    seen_after,
)
from paramedic.ingest.collect.inbox import Silence
from paramedic.ingest.contract import NodeName
from paramedic.ingest.doctor.checks import Check, Level, Report
from paramedic.ingest.doctor.report import report_of
from paramedic.ingest.sources.port import RawPage

COUNTERS = "the counters file of dcgm-exporter (-f)"
TENSOR = "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"


def one(told: Report, words: str) -> Check:
    (found,) = [check for check in told.checks if words in check.text]
    return found


def without(*left_out: str) -> list[str]:
    return [name for name in gpu_names() if name not in left_out]


def some_seconds(seconds: int = 6, every: int = 1, collected: int = 1) -> list[RawPage]:
    """Scraped `every` so many seconds, collected anew every `collected` seconds."""
    exporters = Exporters()
    labels = ',Hostname="{node}",hpc_job="a"' + SCRAPED
    return [
        exporters.gpus(second=at, said=at - at % collected, labels=labels)
        for at in range(START, START + seconds, every)
    ]


def test_a_cluster_that_gives_everything_has_no_warning() -> None:
    told = report(*healthy())
    assert told.holds
    assert told.of(Level.WARNING) == ()
    assert told.facts["hosts"] == 2
    assert told.facts["gpus"] == 4
    assert told.facts["exporters"] == [
        "NCCL Inspector",
        "dcgm-exporter (3.5 to 4.8.2)",
        "node_exporter (1.9.1)",
    ]
    assert told.facts["detection_seconds"] == 9


def test_a_needed_metric_that_lacks_is_missing_with_its_row() -> None:
    check = one(report(Exporters().gpus(names=without(TENSOR))), "tensor core activity")
    assert check.level is Level.MISSING
    assert pasted(check) == {COUNTERS: (f"{TENSOR}, gauge, Tensor core activity.",)}


def test_a_wanted_metric_that_lacks_is_a_warning_and_the_promise_holds() -> None:
    told = report(*(page for page in healthy() if ":9100" in page.origin),
                  Exporters().gpus(names=without("DCGM_FI_DEV_GPU_TEMP")))  # fmt: skip
    assert one(told, "temperature (thermal").level is Level.WARNING
    assert told.holds


def test_rows_are_in_the_dialect_that_was_heard() -> None:
    names = [name for name in gpu_names("dcgm_4_9") if "CLOCK" not in name]
    check = one(report(Exporters().gpus(names=names)), "SM clock")
    assert pasted(check) == {COUNTERS: ("DCGM_FI_DEV_SM_CLOCK_HERTZ, gauge, SM clock.",)}


def test_a_name_that_not_every_release_has_is_told_as_such() -> None:
    names = [name for name in gpu_names("dcgm_4_9") if "FB_USED" not in name]
    check = one(report(Exporters().gpus(names=names)), "memory used (")
    (where,) = pasted(check)
    assert where.startswith(f"{COUNTERS}; announced for 4.9")
    assert where.endswith("try it on one host first")


def test_a_metric_of_some_hosts_only_is_a_warning_that_names_the_others() -> None:
    exporters = Exporters()
    told = report(exporters.gpus("n1"), exporters.gpus("n2", names=without(TENSOR)))
    check = one(told, "tensor core activity")
    assert (check.level, "not on n2" in check.text) == (Level.WARNING, True)


def test_what_not_every_machine_has_is_no_warning_and_can_still_be_pasted() -> None:
    told = report(Exporters().gpus(names=without("DCGM_FI_PROF_NVLINK_TX_BYTES")))
    (check,) = [c for c in checks_of(told, "not seen, of use where it exists")
                if c.text == "NVLink sending"]  # fmt: skip
    assert check.level is Level.OK
    assert pasted(check)[COUNTERS] == ("DCGM_FI_PROF_NVLINK_TX_BYTES, gauge, NVLink sending.",)


def test_links_that_add_up_are_pasted_together() -> None:
    told = report(Exporters().gpus(names=without("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL")))
    (lines,) = pasted(one(told, "NVLink errors")).values()
    assert len(lines) == 4
    assert all(", counter, " in line for line in lines)


def test_a_blank_metric_is_the_gpu_s_and_no_row_would_help() -> None:
    blank = [f'{TENSOR}{{gpu="0",Hostname="n1"}} 140737488355330',
             'DCGM_FI_DEV_POWER_USAGE{gpu="0",Hostname="n1"} 400']  # fmt: skip
    check = one(report(Exporters().page(blank, "n1:9400", START, "n1")), "tensor core activity")
    assert (check.level, check.remedies) == (Level.WARNING, ())


def test_an_exporter_that_cannot_say_it_is_complemented() -> None:
    lines = ['nvidia_smi_power_draw_watts{uuid="a",gpu="0"} 400']
    check = one(report(Exporters().page(lines, "n1:9835", START, "n1")), "tensor core activity")
    assert check.level is Level.WARNING
    assert "nvidia_gpu_exporter does not offer it" in check.text
    assert "dcgm-exporter" in str(check.remedies)


def test_without_any_profiling_metric_the_likely_causes_are_told_once() -> None:
    told = report(Exporters().gpus(names=[name for name in gpu_names() if "PROF" not in name]))
    check = one(told, "no profiling metric")
    assert (check.level, "SYS_ADMIN" in str(check.remedies)) == (Level.WARNING, True)


def test_a_collector_that_is_off_is_named_with_its_flag() -> None:
    exporters = Exporters()
    names = [name for name in host_names() if "netstat" not in name]
    check = one(report(exporters.gpus(), exporters.host(names=names)), "TCP retransmits")
    assert pasted(check) == {"node_exporter's arguments": ("--collector.netstat",)}


def test_half_of_the_scrapes_repeat_a_stale_value() -> None:
    (check,) = checks_of(report(*some_seconds(120, 15, 30)), "cadence of GPUs")
    assert check.level is Level.MISSING
    assert check.text == (
        "a new value every 30 s on 1 host, scraped every 15 s; half of the scrapes repeat a stale"
        " value: a fault could be named after about 154 s, not within 60 s"
    )
    assert pasted(check) == {
        "dcgm-exporter's arguments (or DCGM_EXPORTER_INTERVAL=1000)": ("-c 1000",),
        "prometheus.yml, job_name: dcgm (a ServiceMonitor: interval)": (
            "scrape_interval: 1s",
            "scrape_timeout: 1s",
        ),
    }


def test_an_exporter_that_is_only_slow_itself_needs_no_faster_scrape() -> None:
    (check,) = checks_of(report(*some_seconds(60, 1, 20)), "cadence of GPUs")
    assert [remedy.lines for remedy in check.remedies] == [("-c 1000",)]


@pytest.mark.parametrize(
    ("every", "level"), [(1, Level.OK), (5, Level.WARNING), (10, Level.WARNING)]
)
def test_data_that_are_fast_enough_hold_the_promise(every: int, level: Level) -> None:
    told = report(*some_seconds(60, every, every))
    (check,) = checks_of(told, "cadence of GPUs")
    assert check.level is level


def test_one_slow_host_among_fast_ones_is_counted() -> None:
    exporters = Exporters()
    pages = [exporters.gpus("n1", START + at) for at in range(40)]
    pages += [exporters.gpus("n2", START + at) for at in range(0, 40, 13)]
    (check,) = checks_of(report(*pages), "cadence of GPUs")
    assert check.level is Level.MISSING
    assert "on 1 host of 2" in check.text
    assert dict(pasted(check)) == {"paramedic.toml": ("[collect]", "interval_seconds = 1.0")}


def test_nothing_at_all_is_missing_with_the_reasons() -> None:
    seen = seen_after()
    seen.take(Silence("n1:9400", NodeName("n1"), "connection refused"))
    told = report_of(seen, 15.0)
    assert [(check.level, check.text) for check in told.checks] == [
        (Level.MISSING, "nothing has arrived: connection refused")
    ]


def test_a_place_that_gives_nothing_is_missing_until_it_speaks_again() -> None:
    exporters = Exporters()
    seen = seen_after(exporters.gpus("n1"))
    seen.take(Silence("http://n2:9400/metrics", NodeName("n2"), "timed out"))
    check = one(report_of(seen, 15.0), "1 place gives nothing")
    assert (check.level, "timed out" in check.text) == (Level.MISSING, True)
    assert check.remedies[0].lines == ("curl -sS http://n2:9400/metrics | head",)
    seen.take(exporters.page(["DCGM_FI_DEV_GPU_TEMP 40"], "http://n2:9400/metrics", START, "n2"))
    assert seen.silent == {}


def test_a_prometheus_that_had_nothing_at_first_is_not_silent_once_a_target_speaks() -> None:
    exporters = Exporters()
    seen = seen_after()
    seen.take(Silence("http://p:9090", None, "no samples yet"))
    line = 'DCGM_FI_DEV_GPU_TEMP{gpu="0",Hostname="n1"} 40'
    seen.take(exporters.page([line], "n1:9400 (job dcgm) at http://p:9090", START, "n1"))
    assert seen.silent == {}


def test_a_target_of_a_prometheus_is_asked_at_its_address() -> None:
    seen = seen_after(Exporters().gpus())
    seen.take(Silence("n2:9400 (job dcgm) at http://p", NodeName("n2"), "down"))
    (remedy,) = one(report_of(seen, 1.0), "gives nothing").remedies
    assert remedy.lines == ("curl -sS http://n2:9400/metrics | head",)


def test_hosts_of_one_kind_only_are_named() -> None:
    exporters = Exporters()
    told = report(exporters.gpus("n1"), exporters.gpus("n2"), exporters.host("n2"),
                  exporters.host("n3"))  # fmt: skip
    texts = [check.text for check in checks_of(told, "hosts")]
    assert texts[0].startswith("without GPU metrics: n3")
    assert texts[1] == "without host metrics: n1"


@pytest.mark.parametrize(
    ("labels", "line"),
    [
        (',job="node"', "relabel_configs:"),
        ("", "http://n1:9100/metrics"),
    ],
)
def test_names_that_do_not_match_are_told_with_what_makes_them_match(
    labels: str, line: str
) -> None:
    exporters = Exporters()
    told = report(exporters.gpus("n1"), exporters.host("10.0.0.1", labels=labels))
    (check,) = checks_of(told, "hosts")
    assert "different names (n1 against 10.0.0.1)" in check.text
    assert check.remedies[0].lines[0] == line


def test_no_gpu_metrics_at_all_is_missing() -> None:
    told = report(Exporters().host())
    assert [check.level for check in checks_of(told, "GPUs")] == [Level.MISSING]
    assert not told.holds


def test_a_host_with_fewer_gpus_than_the_others_is_told() -> None:
    exporters = Exporters()
    pages = [exporters.gpus(f"n{at}", count=8 - (at == 2)) for at in range(4)]
    (check,) = checks_of(report(*pages), "GPUs")
    assert check.text == "31 GPUs on 4 hosts; most hosts have 8, but n2 shows 7"


def test_jobs_are_found_by_label_or_the_labels_that_could_are_shown() -> None:
    exporters = Exporters()
    (found,) = checks_of(report(exporters.gpus()), "jobs")
    assert (found.level, found.text) == (Level.OK, "found by label: llama (2 GPUs)")
    labels = ',Hostname="{node}",workload_name="a",pod="p"'
    (could,) = checks_of(report(exporters.gpus(labels=labels)), "jobs")
    assert "labels that may tell: workload_name=a" in could.text
    assert pasted(could) == {"paramedic.toml": ("[collect]", 'job_labels = "workload_name"')}


@pytest.mark.parametrize(("labels", "flags"), [("", 2), (',pod="p"', 1)])
def test_without_any_telling_label_the_exporter_can_be_asked_for_one(
    labels: str, flags: int
) -> None:
    (check,) = checks_of(report(Exporters().gpus(labels=',Hostname="n1"' + labels)), "jobs")
    assert "all busy hosts would be one job, cluster" in check.text
    assert "(2 of 2 GPUs are in use)" in check.text
    assert len(check.remedies) == flags


def test_what_was_left_out_is_counted_by_reason() -> None:
    lines = ['DCGM_FI_DEV_GPU_TEMP{gpu="0",Hostname="n1"} 82505', "DCGM_FI_DEV_GPU_TEMP 40",
             'NEW_ONE{gpu="0",Hostname="n1"} 5', 'broken{gpu="0} 1']  # fmt: skip
    told = report(Exporters().page(lines, "n1:9400", START, "n1"))
    left_out = {check.text: check.level for check in checks_of(told, "left out")}
    assert left_out["1 sample as no_gpu (gpu_temperature_celsius)"] is Level.WARNING
    assert told.facts["rejected"] == {"bad_labels": 1, "no_gpu": 1, "out_of_range": 1}
    (names,) = checks_of(told, "unknown names")
    assert names.text.startswith("NEW_ONE: kept")
