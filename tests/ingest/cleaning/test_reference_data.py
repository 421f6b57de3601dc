"""Real pages of others, with values that were read off the files by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ingest.cleaning.pages import Exporter, column, only
from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
from paramedic.ingest.contract import NodeName
from paramedic.ingest.exposition.contents import Contents, contents_of
from paramedic.ingest.exposition.query_answer import pages_of_answer
from paramedic.ingest.exposition.smi_query import pages_of_smi_query
from paramedic.ingest.sources.kernel.kernel_log import facts_of_lines
from paramedic.ingest.sources.kernel.stamps import Era

NODE = "gpu-node-1"
SMI = "linux-x86_64__nvidia-"
MIB = 1048576.0


@pytest.fixture
def fixtures() -> Path:
    folder = (
        Path(os.environ.get("PARAMEDIC_REFERENCE_DATA", "/nowhere")) / "exporter_kernel_fixtures"
    )
    if not folder.is_dir():
        pytest.skip("PARAMEDIC_REFERENCE_DATA names no folder with exporter_kernel_fixtures")
    return folder


def test_dcgm_exporters_page_of_eight_gpus(fixtures: Path) -> None:
    text = (fixtures / "dcgm/h100_8gpu_dcgm_exporter_4.x.prom").read_text()
    page = Exporter().says(text)
    power = [113.611, 68.347, 65.709, 67.316, 68.717, 65.742, 67.328, 66.997]
    heat = [30, 29, 26, 29, 28, 26, 28, 26]
    assert column(page, "gpu_power_watts") == {(NODE, n): watts for n, watts in enumerate(power)}
    assert column(page, "gpu_temperature_celsius") == {(NODE, n): c for n, c in enumerate(heat)}
    assert column(page, "gpu_utilization_ratio") == {(NODE, n): 0.0 for n in range(8)}
    assert column(page, "gpu_memory_copy_ratio") == {(NODE, n): 0.0 for n in range(6)}
    assert (dict(page.rejected), page.uncatalogued, page.facts) == ({}, (), ())
    busy = page.labels[NodeName(NODE), 0]
    assert (busy["namespace"], busy["pod"]) == (
        "dynamo-workload",
        "vllm-agg-0-vllmdecodeworker-s65j5",
    )
    assert "pod" not in page.labels[NodeName(NODE), 1]


@pytest.mark.parametrize(
    ("number", "metric", "busy", "idle"),
    [
        (1, "gpu_utilization_ratio", 0.0, 0.0),
        (2, "gpu_memory_used_bytes", 74166 * MIB, 0.0),
        (3, "gpu_temperature_celsius", 30.0, 27.0),
        (4, "gpu_power_watts", 113.611, 69.523),
    ],
)
def test_answers_of_a_prometheus(
    fixtures: Path, number: int, metric: str, busy: float, idle: float
) -> None:
    text = (fixtures / f"prometheus_api/query_{number}.json").read_text()
    (raw,) = pages_of_answer(text, "saved")
    page = TelemetryCleaner().clean(raw)
    values = column(page, metric)
    assert sorted(values) == [
        (node, index) for node in ("gpu-node-1", "gpu-node-2") for index in range(8)
    ]
    assert (values["gpu-node-1", 0], values["gpu-node-2", 7]) == (busy, idle)
    assert not page.rejected
    assert page.labels[NodeName("gpu-node-1"), 0]["namespace"] == "dynamo-workload"
    assert {"pod", "namespace"}.isdisjoint(page.labels[NodeName("gpu-node-2"), 7])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (
            "h200__590.48.01__load",
            {
                "gpu_utilization_ratio": 1.0,
                "gpu_power_watts": 627.4,
                "gpu_temperature_celsius": 52.0,
                "gpu_memory_temperature_celsius": 40.0,
                "gpu_sm_clock_hertz": 1.98e9,
                "gpu_memory_used_bytes": 33934016512.0,
                "gpu_memory_copy_ratio": 0.07,
                "gpu_throttle_reasons": 0.0,
                "gpu_recovery_action": 0.0,
                "gpu_ecc_uncorrectable_total": 0.0,
                "gpu_row_remap_pending": 0.0,
            },
        ),
        (
            "h100-mig__590.48.01__load",
            {
                "gpu_utilization_ratio": None,
                "gpu_power_watts": 433.78,
                "gpu_temperature_celsius": 53.0,
                "gpu_memory_temperature_celsius": 59.0,
                "gpu_memory_used_bytes": 11665408000.0,
                "gpu_row_remap_pending": None,
            },
        ),
        (
            "geforce-rtx-2080-super__595.71.05__load",
            {
                "gpu_utilization_ratio": 0.08,
                "gpu_power_watts": 111.5,
                "gpu_sm_clock_hertz": 2.055e9,
                "gpu_memory_temperature_celsius": None,
                "gpu_ecc_uncorrectable_total": None,
            },
        ),
    ],
)
def test_pages_of_nvidia_gpu_exporter(
    fixtures: Path, name: str, values: dict[str, float | None]
) -> None:
    text = (fixtures / f"nvidia_smi/metrics/{SMI}{name}.metrics").read_text()
    page = Exporter().says(text)
    assert {metric: only(page, metric) for metric in values} == values
    assert not page.rejected


def test_every_page_of_nvidia_gpu_exporter_gives_the_table_that_it_was_made_from(
    fixtures: Path,
) -> None:
    for capture in sorted((fixtures / "nvidia_smi/captures").glob("*.txt")):
        raw = pages_of_smi_query(capture.read_text(), capture.name, 0.0, NodeName("n1"))
        for state, from_table in zip(("idle", "load"), raw, strict=True):
            name = f"{capture.stem}__{state}.metrics"
            text = (fixtures / "nvidia_smi/metrics" / name).read_text()
            table, page = TelemetryCleaner().clean(from_table), Exporter().says(text)
            for metric in page.tables[0].columns:
                if metric.startswith("gpu_"):
                    expected = pytest.approx(only(page, metric), rel=1e-9)
                    assert only(table, metric) == expected, (name, metric)


def test_events_of_kernel_and_fabric_logs(fixtures: Path) -> None:
    def kinds(name: str) -> list[tuple[str, object]]:
        lines = (fixtures / "kernel" / name).read_text().splitlines()
        found = facts_of_lines(lines, NodeName("n1"), Era(now_seconds=0.0))
        return [
            (fact.kind.value, fact.details.get("xid", fact.details.get("sxid"))) for fact in found
        ]

    assert kinds("dmesg-with-xid-119.log") == [("xid", 119)] * 5
    assert kinds("fabricmanager.log") == [("sxid", 12028)]
    assert kinds("kmsg.1.log") == []
    assert {kind for kind, _ in kinds("kmsg.2.peermem.log")} == {"kernel_log"}
    assert {kind for kind, _ in kinds("dmesg.decode.iso.log")} == {"kernel_log"}
    lines = (fixtures / "kernel/xid_lines_from_gpud_tests.txt").read_text().splitlines()
    said = [line for line in lines if line.startswith("NVRM: Xid")]
    assert len(kinds("xid_lines_from_gpud_tests.txt")) == len(said)


def test_every_file_is_decoded_or_called_what_it_is(fixtures: Path) -> None:
    readable = {
        ".prom": {Contents.PAGE},
        ".metrics": {Contents.PAGE},
        ".json": {Contents.ANSWER},
        ".log": {Contents.LOG},
        ".txt": {Contents.LOG, Contents.SMI_QUERY},
    }
    for path in sorted(one for one in fixtures.rglob("*") if one.is_file()):
        found = contents_of(path.read_text(errors="replace"))
        if path.parent.name == "bench" or "LICENSE" in path.name or path.suffix == ".csv":
            assert not isinstance(found, Contents), path
            assert found != "nothing that can be decoded", path
        else:
            assert found in readable[path.suffix], path
