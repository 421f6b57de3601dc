"""Sources are opened as they were asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paramedic.api.settings.schema import Settings
from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.source_request import AccessRequest, SourceRequest
from paramedic.api.wiring.sources import (
    check_matchers,
    http_access,
    metric_names,
    open_sources,
)
from paramedic.ingest.sources.prometheus.client import Entry, QueryError


def names_of(request: SourceRequest) -> list[str]:
    return [source.name for source in open_sources(request, Settings(), lambda *_one: None)]


def test_each_source_that_was_asked_for_is_there(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("a:9400\nb:9400\n")
    request = SourceRequest(
        prometheus="http://p:9090",
        exporters=hosts,
        kernel_logs=("a=/var/log/kern.log", "journal", "/dev/kmsg"),
        nvml=True,
        kafka="broker:9092",
        topics=("metrics",),
    )
    prometheus, exporters, *logs, nvml, kafka = names_of(request)
    assert "http://p:9090" in prometheus
    assert exporters == "2 exporters"
    assert len(logs) == 3
    assert "/var/log/kern.log" in logs[0]
    assert nvml
    assert "metrics" in kafka


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (SourceRequest(prometheus="p:9090"), "http"),
        (SourceRequest(exporters=Path("/nonexistent/hosts")), "/nonexistent/hosts"),
        (SourceRequest(kernel_logs=("=/x",)), "--kernel-log '=/x'"),
        (
            SourceRequest(
                prometheus="http://p",
                access=AccessRequest(user="me", password_file=Path("/nonexistent/pw")),
            ),
            "/nonexistent/pw",
        ),
    ],
)
def test_a_source_that_can_never_work_is_refused(request_: SourceRequest, words: str) -> None:
    with pytest.raises(PreflightError, match=re.escape(words)):
        names_of(request_)


def test_secrets_come_from_files_or_the_environment(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("pa55\n")
    token = {"PARAMEDIC_SOURCE_TOKEN": "t0ken"}
    by_file = SourceRequest(access=AccessRequest(user="me", password_file=secret))
    by_variable = SourceRequest(
        access=AccessRequest(user="me"), environment={"PARAMEDIC_SOURCE_PASSWORD": "pa55", **token}
    )
    assert http_access(by_file).password == "pa55"
    assert http_access(by_variable) == http_access(by_file)
    assert http_access(SourceRequest(environment=token)).bearer_token == "t0ken"


def test_what_is_looked_for_covers_the_catalogue_and_each_name_is_a_pattern() -> None:
    patterns = [re.compile(name) for name in metric_names()]
    assert len(patterns) < 400
    for name in ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_EXP_XID_ERRORS_TOTAL", "node_load1",
                 "amd_gpu_gfx_activity", "nvidia_smi_power_draw_watts"):  # fmt: skip
        assert any(pattern.fullmatch(name) for pattern in patterns), name
    assert not any(pattern.fullmatch("http_requests_total") for pattern in patterns)


class Strict:
    """A Prometheus that takes one query and refuses all others."""

    def query(self, expression: str, at_seconds: float | None = None) -> list[Entry]:
        del at_seconds
        if expression != 'count({__name__=~"up",cluster="a"})':
            raise QueryError("HTTP 400: parse error")
        return []


def test_matchers_that_a_prometheus_refuses_are_found_at_the_start() -> None:
    check_matchers(Strict(), "")
    check_matchers(Strict(), 'cluster="a"')
    with pytest.raises(PreflightError, match=r"^--matchers 'foo=': HTTP 400: parse error"):
        check_matchers(Strict(), "foo=")
