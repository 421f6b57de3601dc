"""The parts of a run are given what they need, and nothing is asked twice."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from paramedic.api.command_line.dispatch import read_call
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.settings.reading import read_settings
from paramedic.api.settings.schema import ApiSettings, BusSettings, JobSettings, Settings
from paramedic.api.wiring.bus import check_bus
from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.request import RunRequest, prepare
from paramedic.api.wiring.run import job_config
from paramedic.api.wiring.run_folder import sign_file
from paramedic.api.wiring.service_commands import (
    INTERPRETER,
    Services,
    service_environment,
    setting_flags,
)
from paramedic.api.wiring.translation import diagnose_config, membership_rules, remediate_config
from paramedic.api.wiring.watching import WatchKeeper
from paramedic.ingest.agent.watched import WatchList
from paramedic.ingest.contract import BusUnavailableError, Event, EventKind, JobName, NodeName
from paramedic.remediation.launchers.port import LauncherUnavailableError, Placement

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CUSTOM = replace(Settings(), job=JobSettings(ranks=2, spares=0), api=ApiSettings(port=0))


def request(folder: Path, command: tuple[str, ...] = ("sh",), *, bare: bool = False) -> RunRequest:
    return RunRequest(
        command=command,
        job=None,
        run_folder=Path("here"),
        bare=bare,
        settings=CUSTOM,
        folder=folder,
        environment={"PATH": "/usr/bin:/bin"},
    )


def test_a_run_is_prepared_with_a_port_a_folder_and_private_sockets(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place = prepare(request(tmp_path), stack, NOON)
        assert place.run_folder == tmp_path / "here"
        assert place.listener is not None
        assert place.listener.getsockname()[1] != 0
        assert place.sockets.stat().st_mode & 0o777 == 0o700
    assert not place.sockets.exists()
    assert place.listener.fileno() == -1


def test_nothing_is_left_when_something_cannot_work(tmp_path: Path) -> None:
    with pytest.raises(PreflightError), ExitStack() as stack:
        prepare(request(tmp_path, ("nothere",)), stack, NOON)
    assert list(tmp_path.iterdir()) == []


def test_a_bare_run_opens_no_port(tmp_path: Path) -> None:
    with ExitStack() as stack:
        assert prepare(request(tmp_path, bare=True), stack, NOON).listener is None


def bus_settings(address: str) -> Settings:
    return Settings(bus=BusSettings(address, connect_timeout_seconds=0.1))


def test_the_bus_of_another_run_is_refused() -> None:
    with pytest.raises(PreflightError, match="belongs to another run"):
        check_bus(bus_settings("unix:/tmp/x/bus.sock"), {})


def test_the_embedded_bus_needs_no_check_and_a_dead_broker_is_found() -> None:
    check_bus(bus_settings("embedded"), {})
    with pytest.raises(BusUnavailableError, match=r"no Kafka broker.*after 0\.1 s"):
        check_bus(bus_settings("kafka://127.0.0.1:1"), {})


def test_the_launcher_is_given_settings_and_sockets(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place = prepare(request(tmp_path), stack, NOON)
        config = job_config(request(tmp_path), place, has_agent=True)
        bare = job_config(request(tmp_path), place, has_agent=False)
    assert (config.rules.ranks, config.rules.spares) == (2, 0)
    assert config.control_socket == place.control_socket
    assert config.telemetry_socket == place.telemetry_socket
    assert bare.telemetry_socket is None
    assert config.working_folder == tmp_path


def test_settings_survive_the_way_through_flags(tmp_path: Path) -> None:
    flags = setting_flags(CUSTOM, {"bus.address": "unix:/tmp/x/bus.sock"})
    surroundings = Surroundings(tmp_path, {"PARAMEDIC_JOB_RANKS": "9"}, sys.stdout, sys.stderr)
    _verb, call = read_call(["diagnose", *flags, "--debug"], surroundings)
    assert call.settings.job == CUSTOM.job
    assert call.settings.api == CUSTOM.api
    assert call.settings.bus.address == "unix:/tmp/x/bus.sock"


def test_a_service_gets_no_setting_by_environment_and_one_thread() -> None:
    environment = service_environment({"PARAMEDIC_API_PORT": "x", "HOME": "/h"})
    assert environment["HOME"] == "/h"
    assert environment["OMP_NUM_THREADS"] == "1"
    assert "PARAMEDIC_API_PORT" not in environment


def test_services_run_with_this_interpreter_and_inherit_only_the_listening_socket(
    tmp_path: Path,
) -> None:
    said: list[str] = []
    services = Services("unix:/b", tmp_path, CUSTOM, {}, said.append)
    diagnose, remediate = services.diagnose(), services.remediate(tmp_path / "c", 7)
    for service in (diagnose, remediate):
        assert service.command[: len(INTERPRETER)] == INTERPRETER
        assert service.log_path.parent == tmp_path / "logs"
        assert "bus.address=unix:/b" in service.command
        service.tell(service.name)
    assert said == ["diagnose", "remediate"]
    assert str(sign_file(tmp_path)) in diagnose.command
    assert diagnose.pass_fds == ()
    assert remediate.pass_fds == (7,)
    assert remediate.command[remediate.command.index("--listen-fd") + 1] == "7"


@pytest.mark.parametrize("text", ["4.1", "10", "60"])
def test_every_time_out_that_settings_take_can_be_judged_with(tmp_path: Path, text: str) -> None:
    environment = {"PARAMEDIC_DETECTION_HEARTBEAT_TIMEOUT_SECONDS": text}
    settings = read_settings(tmp_path, environment, {})
    silence = diagnose_config(settings).detector.silence
    assert silence.heartbeat_timeout_seconds == float(text)


@pytest.mark.parametrize("lateness", range(5))
def test_every_lateness_that_settings_take_makes_windows(tmp_path: Path, lateness: int) -> None:
    environment = {"PARAMEDIC_DETECTION_LATENESS_SECONDS": str(lateness)}
    windows = diagnose_config(read_settings(tmp_path, environment, {})).detector.windows
    assert windows.lateness_seconds == lateness
    assert windows.slots == 60


def test_the_tolerated_false_alarms_reach_every_pattern(tmp_path: Path) -> None:
    environment = {"PARAMEDIC_DETECTION_FALSE_ALARMS_PER_JOB_DAY": "0.5"}
    detector = diagnose_config(read_settings(tmp_path, environment, {})).detector
    assert detector.straggler.false_alarms_per_job_day == 0.5
    assert detector.departure.false_alarms_per_job_day == 0.5
    assert detector.application.false_alarms_per_job_day == 0.5


def test_recovery_settings_reach_launcher_and_remediation() -> None:
    settings = Settings()
    assert membership_rules(settings).max_recoveries_without_progress == 3
    config = remediate_config(settings)
    assert config.controller.effect_timeout_seconds == 120.0
    assert config.policy.replacements_per_hour == 3
    assert config.policy.minimum_confidence == 0.9


def test_the_agent_watches_what_the_supervisor_says() -> None:
    watch = WatchList()
    placements = [
        Placement(NodeName("node-0000"), 0, 11, 0),
        Placement(NodeName("node-0001"), None, 12, 0),
        Placement(NodeName("node-0002"), None, None, 0),
    ]
    WatchKeeper(lambda: placements, watch).look()
    assert [(one.node, one.process_id, one.rank) for one in watch.current()] == [
        ("node-0000", 11, 0),
        ("node-0001", 12, None),
    ]


def test_a_supervisor_that_does_not_answer_leaves_the_list_as_it_is() -> None:
    watch = WatchList()
    answers: list[list[Placement]] = [[Placement(NodeName("node-0000"), 0, 11, 0)]]

    def observe() -> list[Placement]:
        if not answers:
            raise LauncherUnavailableError("not there")
        return answers.pop()

    keeper = WatchKeeper(observe, watch)
    keeper.look()
    keeper.look()
    assert len(watch.current()) == 1


def test_a_change_is_looked_at_without_waiting_for_the_next_second() -> None:
    watch = WatchList()
    looked = threading.Event()

    keeper = WatchKeeper(list, watch, looked.set, look_seconds=1e6)
    keeper.start()
    keeper.notice(Event(NOON, EventKind.CHECKPOINT, JobName("train")))
    assert not looked.is_set()
    keeper.notice(Event(NOON, EventKind.MEMBERSHIP, JobName("train")))
    assert looked.wait(10.0)
    keeper.close(10.0)
