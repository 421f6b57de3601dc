"""What `up` checks, starts and writes down; nothing is started here."""

from __future__ import annotations

import io
import json
import os
import socket
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from paramedic.api.rest.errors import ApiError
from paramedic.api.settings.schema import ApiSettings, BusSettings, CollectSettings, Settings
from paramedic.api.wiring import up as wiring
from paramedic.api.wiring.bus import RunBus
from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.lines_for_people import LinesForPeople
from paramedic.api.wiring.run_folder import WATCH_RECORD_FILE, sign_file
from paramedic.api.wiring.source_request import SourceRequest
from paramedic.api.wiring.up import UpRequest
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.collect.errors import CollectSettingError
from paramedic.ingest.contract import BusUnavailableError, Start, Topic
from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

SECRETS = {"PARAMEDIC_SOURCE_TOKEN": "t0ken", "PARAMEDIC_SOURCE_PASSWORD": "pa55"}


def request(folder: Path, sources: SourceRequest | None = None, **changes: object) -> UpRequest:
    asked = UpRequest(
        sources=sources or SourceRequest(kernel_logs=("a=/var/log/kern.log",)),
        run_folder=Path("here"),
        settings=Settings(api=ApiSettings(port=0)),
        folder=folder,
        environment={"PATH": "/usr/bin", **SECRETS},
        as_json_lines=False,
    )
    return replace(asked, **changes)  # type: ignore[arg-type]


def services_of(asked: UpRequest) -> dict[str, ServiceSpec]:
    with ExitStack() as stack:
        place = wiring._prepare(asked, stack)
        bus = MemoryBus()
        run = RunBus(
            "unix:/b/bus.sock",
            lambda *_one: None,
            lambda topics: bus.subscribe(topics, Start.EARLIEST),
        )
        lines = LinesForPeople(stack, lambda _line: None)
        return {spec.name: spec for spec in wiring._services(asked, place, run, lines, print)}


def test_services_run_and_only_collect_is_given_the_secrets_of_the_sources(
    tmp_path: Path,
) -> None:
    services = services_of(request(tmp_path))
    assert {"diagnose", "remediate", "collect"} <= set(services)
    for name, spec in services.items():
        assert (SECRETS.items() <= spec.environment.items()) is (name == "collect")
        assert "t0ken" not in " ".join(spec.command)
        assert "bus.address=unix:/b/bus.sock" in spec.command
    assert "--observe" in services["remediate"].command


def test_what_gives_signs_of_life_is_known_before_it_runs(tmp_path: Path) -> None:
    services_of(request(tmp_path))
    for service in ("diagnose", "collect"):
        assert sign_file(tmp_path / "here", service).exists()


def test_telemetry_that_is_on_the_bus_already_needs_no_collect(tmp_path: Path) -> None:
    services = services_of(request(tmp_path, SourceRequest()))
    assert {"diagnose", "remediate"} <= set(services)
    assert "collect" not in services
    assert not sign_file(tmp_path / "here", "collect").exists()


def test_where_everything_is_stands_in_the_run_folder_without_secrets(tmp_path: Path) -> None:
    asked = request(tmp_path)
    with ExitStack() as stack:
        place = wiring._prepare(asked, stack)
        bus = RunBus("unix:/b", lambda *_one: None, lambda _t: None)  # type: ignore[arg-type, return-value]
        wiring._record(asked, place, bus)
        said = io.StringIO()
        wiring._say_start(asked, place, said)
        written = (tmp_path / "here" / WATCH_RECORD_FILE).read_text()
        assert json.loads(written)["api"] == place.api
    facts = json.loads(written)
    assert facts["sources"] == ["--kernel-log=a=/var/log/kern.log"]
    assert (facts["bus"], facts["process_id"]) == ("unix:/b", os.getpid())
    assert "t0ken" not in written
    assert "watching a=/var/log/kern.log; nothing is changed" in said.getvalue()


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"sources": SourceRequest(exporters=Path("nothere"))}, PreflightError, "nothere"),
        (
            {"sources": SourceRequest(prometheus="http://127.0.0.1:9")},
            PreflightError,
            "--prometheus: ",
        ),
        (
            {"settings": Settings(bus=BusSettings(address="unix:/another/bus.sock"))},
            PreflightError,
            "belongs to another run",
        ),
        (
            {
                "settings": Settings(
                    bus=BusSettings(address="kafka://127.0.0.1:9", connect_timeout_seconds=0.1)
                )
            },
            BusUnavailableError,
            "127.0.0.1:9",
        ),
        (
            {"settings": Settings(collect=CollectSettings(role_labels="colour=red"))},
            CollectSettingError,
            "role 'colour'",
        ),
    ],
)
def test_what_cannot_work_is_found_before_anything_is_made(
    tmp_path: Path, changes: dict[str, object], error: type[Exception], words: str
) -> None:
    with ExitStack() as stack, pytest.raises(error, match=words):
        wiring._prepare(request(tmp_path, **changes), stack)  # type: ignore[arg-type]
    assert not (tmp_path / "here").exists()


def test_a_port_that_is_taken_is_found_too(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(api=ApiSettings(port=taken.getsockname()[1]))
        with ExitStack() as stack, pytest.raises(ApiError, match="port"):
            wiring._prepare(request(tmp_path, settings=settings), stack)


def test_verdicts_go_to_standard_output_where_that_is_asked_for(tmp_path: Path) -> None:
    from api.verdicts import a_verdict

    bus = MemoryBus()
    bus.publisher().publish(Topic.VERDICTS, "train/0", a_verdict().to_json())
    out, errors = io.StringIO(), io.StringIO()
    run = RunBus(
        "unix:/b", lambda *_one: None, lambda topics: bus.subscribe(topics, Start.EARLIEST)
    )
    with ExitStack() as stack:
        wiring._start_narrator(request(tmp_path, as_json_lines=True), run, stack, out, errors)
    assert out.getvalue().encode() == a_verdict().to_json() + b"\n"
    assert "job train: firing P1 hang" in errors.getvalue()
