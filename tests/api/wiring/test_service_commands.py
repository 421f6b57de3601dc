"""The command of each service is one that our own command line takes, with the same settings."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from paramedic.api.command_line.dispatch import read_call
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import (
    CollectSettings,
    KafkaSettings,
    RecordingSettings,
    Settings,
    describe_settings,
)
from paramedic.api.wiring.service_commands import INTERPRETER, Services, service_environment
from paramedic.api.wiring.source_request import SourceRequest
from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

ODD = Settings(
    collect=CollectSettings(role_labels="switch=leaf,rack=r", past_seconds=1e-7),
    kafka=KafkaSettings(prefix="-blue", sasl_username="a = b"),
    recording=RecordingSettings(ring_bytes=1_500_000_000, segment_seconds=90.0),
)
BUS = "unix:/tmp/x/bus.sock"


@pytest.fixture(autouse=True)
def _keep_the_exception_hook() -> Iterator[None]:
    before = sys.excepthook
    yield
    sys.excepthook = before


def services(folder: Path, settings: Settings = ODD) -> Services:
    return Services(BUS, folder, settings, {}, lambda _line: None)


def called(spec: ServiceSpec, folder: Path) -> tuple[Verb, Call]:
    """What the process makes of its command."""
    assert spec.command[: len(INTERPRETER)] == INTERPRETER
    around = Surroundings(folder, spec.environment, io.StringIO(), io.StringIO())
    return read_call(spec.command[len(INTERPRETER) :], around)


def expected(**kafka: str) -> Settings:
    return replace(
        ODD,
        bus=replace(ODD.bus, address=BUS),
        kafka=replace(ODD.kafka, **kafka),  # type: ignore[arg-type]  # texts only
    )


def test_diagnose_is_the_only_one_of_its_run_and_gives_signs_of_life(tmp_path: Path) -> None:
    verb, call = called(services(tmp_path).diagnose(), tmp_path)
    assert verb.name == "diagnose"
    assert call.flags.sign_file == tmp_path / "diagnose.alive"
    assert call.settings == expected(group="off")


def test_remediate_has_the_launcher_the_folder_and_the_socket(tmp_path: Path) -> None:
    socket = tmp_path / "control.sock"
    verb, call = called(services(tmp_path).remediate(socket, 7), tmp_path)
    flags = call.flags
    assert (verb.name, flags.serve, flags.observe) == ("remediate", True, False)
    assert (flags.control_socket, flags.run_folder, flags.listen_fd) == (socket, tmp_path, 7)
    assert call.settings == expected()


def test_without_a_launcher_remediate_observes(tmp_path: Path) -> None:
    _verb, call = called(services(tmp_path).remediate(None, 7), tmp_path)
    assert (call.flags.observe, call.flags.control_socket) == (True, None)


def test_collect_reads_what_was_asked_for_and_tells(tmp_path: Path) -> None:
    asked = SourceRequest(prometheus="http://p", matchers="-a", kernel_logs=("n=/var/log/k",))
    verb, call = called(services(tmp_path).collect(asked.flags(), 9), tmp_path)
    flags = call.flags
    assert (verb.name, flags.prometheus, flags.matchers) == ("collect", "http://p", "-a")
    assert (flags.kernel_logs, flags.tell_fd) == (["n=/var/log/k"], 9)
    assert flags.sign_file == tmp_path / "collect.alive"
    assert call.settings == expected()


def test_the_ring_is_as_large_and_its_segments_as_long_as_is_set(tmp_path: Path) -> None:
    (spec,) = services(tmp_path).capture()
    verb, call = called(spec, tmp_path)
    flags = call.flags
    assert (verb.name, flags.ring, flags.out) == ("capture", True, tmp_path / "ring")
    assert (flags.cap_gigabytes, flags.segment_minutes) == (1.5, 1.5)
    assert call.settings == expected()


def test_a_ring_of_nothing_is_no_process(tmp_path: Path) -> None:
    none = replace(ODD, recording=RecordingSettings(ring_bytes=0))
    assert services(tmp_path, none).capture() == ()


def test_each_logs_under_its_name_and_inherits_what_it_needs_alone(tmp_path: Path) -> None:
    made = services(tmp_path)
    specs = [made.diagnose(), made.remediate(None, 7), made.collect((), 9), *made.capture()]
    assert [spec.log_path.name for spec in specs] == [f"{spec.name}.log" for spec in specs]
    assert {spec.name: spec.pass_fds for spec in specs} == {
        "diagnose": (), "remediate": (7,), "collect": (9,), "capture": ()
    }  # fmt: skip


def test_settings_come_as_flags_and_never_by_environment_or_file(tmp_path: Path) -> None:
    (tmp_path / "paramedic.toml").write_text("[job]\nranks = 99\n")
    variables = {setting.variable: "nonsense" for setting in describe_settings()}
    spec = replace(services(tmp_path), environment=variables).diagnose()
    assert called(spec, tmp_path)[1].settings.job == ODD.job


def test_secrets_and_the_users_own_variables_stay(tmp_path: Path) -> None:
    mine = {"PATH": "/bin", "PARAMEDIC_KAFKA_SASL_PASSWORD": "s", "OMP_NUM_THREADS": "64"}
    environment = service_environment(mine)
    assert environment == {
        **mine, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"
    }  # fmt: skip
    assert mine["OMP_NUM_THREADS"] == "64"
