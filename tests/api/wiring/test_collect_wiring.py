"""What collect tells of itself, and how `up` starts it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from ingest.collect.imagined import START, Host
from paramedic.api.rest.families import registry_of
from paramedic.api.settings.schema import CollectSettings, Settings
from paramedic.api.wiring.collect_metrics import families_of
from paramedic.api.wiring.collect_once import findings, newest_batches
from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.lines_for_people import LinesForPeople
from paramedic.api.wiring.service_commands import Services
from paramedic.api.wiring.translation import collect_config, remediate_config
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.collect.status import CollectStatus, JobStatus
from paramedic.ingest.contract import JobName, TelemetryBatch, Topic

STATUS = CollectStatus(
    pages=3,
    samples=900,
    rejected={("blank", "gpu_xid"): 2, ("blank", "gpu_power_watts"): 1, ("nan", "x"): 4},
    unpublished_rows={"no_job": 7},
    dropped={"page": 1},
    bus_resets=2,
    forgotten_messages=500,
    lag_seconds=0.5,
    hosts=2,
    gpus=4,
    jobs={JobName("j"): JobStatus(nodes=2, gpus=4, sampling_seconds=15, is_training=True)},
)


def test_the_metrics_page_says_what_the_snapshot_says() -> None:
    page = generate_latest(registry_of(lambda: families_of(STATUS))).decode()
    for line in (
        "paramedic_collect_samples_total 900.0",
        'paramedic_collect_rejected_samples_total{metric="gpu_xid",reason="blank"} 2.0',
        'paramedic_collect_unpublished_rows_total{reason="no_job"} 7.0',
        'paramedic_collect_dropped_total{what="page"} 1.0',
        "paramedic_collect_bus_resets_total 2.0",
        "paramedic_collect_forgotten_messages_total 500.0",
        "paramedic_collect_lag_seconds 0.5",
        'paramedic_collect_job_nodes{job="j"} 2.0',
        'paramedic_collect_job_sampling_seconds{job="j"} 15.0',
    ):
        assert line in page.splitlines()


def test_a_dry_look_tells_each_job_with_its_metrics_and_then_the_rest() -> None:
    bus = MemoryBus()
    for second in range(3):
        tables = Host("a").page(START + second).tables
        batch = TelemetryBatch(JobName("j"), 0, START + second, tables)
        bus.publisher().publish(Topic.TELEMETRY, "j/0", encode(batch))
    job, rest = findings(STATUS, newest_batches(bus))
    assert (job["job"], job["nodes"], job["sampling_seconds"]) == ("j", 2, 15)
    metrics = job["metrics"]
    assert isinstance(metrics, dict)
    assert "gpu_power_watts" in metrics["gpu"]
    assert rest["rejected"] == {"blank": 3, "nan": 4}


def test_labels_and_times_reach_collect() -> None:
    settings = Settings(
        collect=CollectSettings(
            job_labels="a, b", role_labels="switch=leaf,rack = r", idle_seconds=60.0
        )
    )
    config = collect_config(settings)
    assert config.labels.job_labels == ("a", "b")
    assert config.labels.role_labels == {"switch": "leaf", "rack": "r"}
    assert config.tenancy.idle_seconds == 60.0
    assert collect_config(Settings()).labels.role_labels == {}


@pytest.mark.parametrize("text", ["switch", "=leaf", "switch=", "switch=leaf,,"])
def test_role_labels_that_are_no_pairs_are_refused(text: str) -> None:
    with pytest.raises(PreflightError, match=r"collect\.role_labels"):
        collect_config(Settings(collect=CollectSettings(role_labels=text)))


def test_where_nobody_may_act_everything_is_a_dry_run() -> None:
    assert remediate_config(Settings(), observe_only=True).policy.dry_run
    assert not remediate_config(Settings()).policy.dry_run


def test_the_collecting_process_gets_its_sources_and_a_way_to_tell(tmp_path: Path) -> None:
    flags = ("--prometheus", "http://p:9090")
    services = Services("unix:/b", tmp_path, Settings(), {}, lambda _line: None)
    spec = services.collect(flags, 9)
    words = " ".join(spec.command)
    assert "collect --prometheus http://p:9090 --sign-file" in words
    assert "--tell-fd 9" in words
    assert "bus.address=unix:/b" in words
    assert spec.pass_fds == (9,)


def test_remediation_without_a_launcher_observes(tmp_path: Path) -> None:
    services = Services("unix:/b", tmp_path, Settings(), {}, lambda _line: None)
    spec = services.remediate(None, 7)
    assert "--observe" in spec.command
    assert "--control-socket" not in spec.command


def test_lines_of_the_collecting_process_are_said_once_and_whole() -> None:
    said: list[str] = []
    with ExitStack() as stack:
        lines = LinesForPeople(stack, said.append)
        for piece in (b"half of ", b"a line\nand one more\n", b"and one more\n", b"the rest"):
            os.write(lines.write_end, piece)
            lines.pass_on()
    assert said == ["half of a line", "and one more"]
