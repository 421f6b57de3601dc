"""What people paste holds what detection uses, and nothing that the catalogue does not know."""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.doctor.looked import catalogue, host_names
from paramedic.ingest.contract import Entity
from paramedic.ingest.doctor.clocks import HOST_TIME
from paramedic.ingest.doctor.counters_file import CLASSIC, NEWEST, doubt, fields_of, row
from paramedic.ingest.doctor.exporters import BUILD_INFO
from paramedic.ingest.doctor.needs import GPU_NEEDS, HOST_NEEDS, Need
from paramedic.ingest.doctor.promise import detection_seconds
from servers.prometheus import prometheus_program

DOCS = Path(__file__).parents[3] / "docs"
FILES = {CLASSIC: "counters.csv", NEWEST: "counters-4.9.csv"}
ONLY_FROM_OTHERS = {"gpu_pcie_bytes_per_second"}
"""What only AMD's exporter says."""


def lines_of(dialect: str) -> list[str]:
    return (DOCS / "telemetry" / FILES[dialect]).read_text().splitlines()


def rows_of(dialect: str) -> Iterator[list[str]]:
    """Rows as dcgm-exporter reads them, and those that are commented out."""
    lines = [re.sub(r"^# (?=DCGM_\w+,)", "", line) for line in lines_of(dialect)]
    yield from csv.reader(line for line in lines if line and not line.startswith("#"))


@pytest.mark.parametrize("dialect", FILES)
def test_every_metric_that_detection_uses_is_in_the_counters_file(dialect: str) -> None:
    asked_for = {catalogue().exported[name].metric.id for name, _, _ in rows_of(dialect)}
    assert {one for need in GPU_NEEDS for one in need.metrics} - asked_for == ONLY_FROM_OTHERS


@pytest.mark.parametrize("dialect", FILES)
def test_every_row_is_one_that_the_catalogue_knows_and_that_doctor_would_print(
    dialect: str,
) -> None:
    said = {
        row(need, field) for need in GPU_NEEDS for field in fields_of(need, dialect, catalogue())
    }
    names = [name for name, _, _ in rows_of(dialect)]
    assert len(names) == len(set(names))
    for name, kind, words in rows_of(dialect):
        assert f"{name},{kind},{words}" in said
        assert kind.strip() in {"gauge", "counter"}
        assert catalogue().find(name) is not None


@pytest.mark.parametrize("dialect", FILES)
def test_rows_that_not_every_release_has_are_commented_out(dialect: str) -> None:
    for line in lines_of(dialect):
        if name := re.match(r"(# )?(DCGM_\w+),", line):
            assert (doubt(name[2], dialect) is not None) is (name[1] is not None)


@pytest.mark.parametrize("need", [*GPU_NEEDS, *HOST_NEEDS], ids=lambda need: need.name)
def test_every_need_is_of_the_catalogue_and_can_be_a_help_text(need: Need) -> None:
    entity = Entity.GPU if need in GPU_NEEDS else Entity.NODE
    assert {catalogue().metrics[metric].entity for metric in need.metrics} == {entity}
    assert not set(need.name) & set(",\"'|")
    assert (need.collector is None) is (entity is Entity.GPU)


def test_the_document_lists_every_need_with_its_importance() -> None:
    document = (DOCS / "telemetry.md").read_text()
    for need in (*GPU_NEEDS, *HOST_NEEDS):
        metrics = ", ".join(f"`{metric}`" for metric in need.metrics)
        assert f"| {need.name} | {need.importance} | {metrics} | {need.serves} |" in document


def test_the_document_s_times_are_those_that_doctor_tells() -> None:
    rows = re.findall(r"\n\| (\d+) s \| (\d+) s \|", (DOCS / "telemetry.md").read_text())
    assert len(rows) == 6
    for interval, seconds in rows:
        assert detection_seconds(float(interval)) == float(seconds)


@pytest.mark.parametrize("file", ["prometheus.yml", "service-monitor.yaml"])
def test_the_scrape_profile_keeps_what_is_used_of_a_host(file: str) -> None:
    text = (DOCS / "telemetry" / file).read_text()
    (kept,) = re.findall(r"regex: (node_\(.*)", text)
    names = (*host_names(), HOST_TIME, BUILD_INFO)
    assert [name for name in names if not re.fullmatch(kept, name)] == []
    assert re.fullmatch(kept, "node_filesystem_files") is None


@pytest.mark.connected
@pytest.mark.skipif(prometheus_program() is None, reason="no promtool: tools/fetch_system_tools.sh")
def test_promtool_accepts_the_scrape_profile() -> None:
    promtool = Path(prometheus_program() or "").with_name("promtool")
    done = subprocess.run(
        [promtool, "check", "config", DOCS / "telemetry" / "prometheus.yml"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
