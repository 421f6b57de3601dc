"""A dry look ends when enough has been seen, or when patience is over."""

from __future__ import annotations

import io
import json
import signal
import subprocess
from pathlib import Path

import pytest

from paramedic.api.settings.schema import CollectSettings, Settings
from paramedic.api.wiring.collect_once import Settling, collect_once
from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.service_commands import INTERPRETER
from paramedic.api.wiring.source_request import SourceRequest
from paramedic.ingest.collect.status import CollectStatus, JobStatus
from paramedic.ingest.contract import JobName
from servers.exporters import SCRAPE, exporter

NOTHING = CollectStatus()


def found(lag_seconds: float = 0.5, sampling_seconds: int = 1) -> CollectStatus:
    job = JobStatus(2, 16, sampling_seconds, is_training=True)
    return CollectStatus(lag_seconds=lag_seconds, jobs={JobName("j"): job})


def looks(*statuses: CollectStatus) -> list[bool]:
    """What is decided, looking once a second."""
    settling = Settling(0.0)
    return [settling.is_over(status, float(at)) for at, status in enumerate(statuses)]


def test_it_ends_when_a_job_has_been_there_for_a_while() -> None:
    assert looks(NOTHING, found(), found(), found(), found()) == [False] * 4 + [True]


def test_as_long_as_a_past_is_read_it_goes_on() -> None:
    assert not any(looks(*[found(lag_seconds=60.0)] * 10))


def test_a_job_that_comes_and_goes_is_waited_for() -> None:
    assert not any(looks(*[found(), found(), NOTHING] * 4))


def test_what_a_slow_source_said_last_may_be_older() -> None:
    assert looks(*[found(lag_seconds=14.0, sampling_seconds=15)] * 4)[-1]


def test_patience_ends_when_nothing_is_found() -> None:
    settling = Settling(100.0)
    assert not settling.is_over(NOTHING, 144.0)
    assert settling.is_over(NOTHING, 145.0)


def test_a_source_that_can_never_work_ends_the_look_at_once() -> None:
    request = SourceRequest(exporters=Path("/nonexistent/hosts"))
    with pytest.raises(PreflightError, match="/nonexistent/hosts"):
        collect_once(request, Settings(), io.StringIO(), io.StringIO())


@pytest.mark.connected
def test_a_look_that_is_ended_early_names_the_address_that_refuses(tmp_path: Path) -> None:
    (tmp_path / "hosts.txt").write_text("127.0.0.1:1\n")
    asked = ("collect", "--once", "--exporters", "hosts.txt")
    with subprocess.Popen(
        [*INTERPRETER, *asked],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as looking:
        assert looking.stderr is not None
        refused = looking.stderr.readline().removeprefix("paramedic: ")
        looking.send_signal(signal.SIGINT)
        _out, rest = looking.communicate(timeout=20.0)
    assert refused == "http://127.0.0.1:1/metrics gives nothing: Connection refused\n"
    assert rest == f"paramedic: no job was found, so nothing would be published: {refused}"
    assert looking.returncode == 1


PAGE = "".join(
    f'{name}{{gpu="{gpu}",UUID="GPU-{gpu}",Hostname="node-7",hpc_job="4711"}} {value}\n'
    for gpu in range(2)
    for name, value in (
        ("DCGM_FI_DEV_GPU_UTIL", "97"),
        ("DCGM_FI_DEV_POWER_USAGE", f"400.{SCRAPE}"),
        ("DCGM_FI_DEV_GPU_TEMP", "60"),
        ("DCGM_FI_DEV_SM_CLOCK", "1980"),
    )
)


@pytest.mark.connected
def test_the_job_of_an_exporter_is_printed_with_its_metrics(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.txt"
    out, errors = io.StringIO(), io.StringIO()
    settings = Settings(collect=CollectSettings(interval_seconds=1.0))
    with exporter(PAGE) as served:
        hosts.write_text(f"{served.address}\n")
        code = collect_once(SourceRequest(exporters=hosts), settings, out, errors)
    job, rest = map(json.loads, out.getvalue().splitlines())
    assert (code, errors.getvalue()) == (0, "")
    assert (job["job"], job["nodes"], job["gpus"], job["sampling_seconds"]) == ("4711", 1, 2, 1)
    assert "gpu_power_watts" in job["metrics"]["gpu"]
    assert (rest["hosts"], rest["silent_origins"]) == (1, 0)
