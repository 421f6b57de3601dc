"""Values that verbs read in their own way: moments, speeds, limits, and the bus of `up`."""

from __future__ import annotations

import io
import math
from argparse import ArgumentTypeError
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.command_line import flags
from paramedic.api.command_line.bus_flag import existing_bus
from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.parser import build_parser
from paramedic.api.command_line.replay_verb import _speed
from paramedic.api.command_line.simulate_verb import _check
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.command_line.verbs import Call
from paramedic.api.settings.schema import BusSettings, Settings

PARSER = build_parser()
ZONES = st.integers(-23, 23).map(lambda hours: timezone(timedelta(hours=hours)))
CLOSED = "127.0.0.1:1"


def refused(folder: Path, *arguments: str) -> str:
    """The line of a call that ends with 2 and prints nothing else."""
    out, err = io.StringIO(), io.StringIO()
    assert dispatch([*arguments, "--debug"], Surroundings(folder, {}, out, err)) == 2
    assert (out.getvalue(), err.getvalue().count("\n")) == ("", 1)
    return err.getvalue()


@given(st.datetimes(datetime(1970, 1, 1), datetime(2261, 12, 31)), ZONES)  # noqa: DTZ001
def test_a_moment_keeps_its_zone_and_is_utc_without_one(moment: datetime, zone: timezone) -> None:
    assert flags.moment(moment.isoformat()) == moment.replace(tzinfo=UTC)
    assert flags.moment(moment.replace(tzinfo=zone).isoformat()) == moment.replace(tzinfo=zone)


@pytest.mark.parametrize("text", ["2026-01-01T00:10:00Z", "2026-01-01 00:10", "20260101T001000Z"])
def test_a_moment_may_be_written_in_several_ways(text: str) -> None:
    assert flags.moment(text) == datetime(2026, 1, 1, 0, 10, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "yesterday", "00:10", "1767225600", "2026-13-01"])
def test_a_moment_that_is_none_is_shown_how_one_looks(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"is no time such as 2026-01-01T00:10:00Z"):
        flags.moment(text)


@pytest.mark.parametrize("text", ["0001-01-01", "1969-12-31T23:59:59Z", "2262-01-01"])
def test_a_moment_of_another_age_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="the year must be from 1970 to 2261"):
        flags.moment(text)


@given(st.floats(min_value=1e-6, max_value=1e6))
def test_a_speed_is_a_number_or_max(speed: float) -> None:
    assert _speed(repr(speed)) == speed
    assert _speed("max") == math.inf


@pytest.mark.parametrize("text", ["0", "-1", "MAX", "inf", "nan", "", "2x"])
def test_any_other_speed_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is neither max nor a number above 0"):
        _speed(text)


@pytest.mark.parametrize(
    ("flag", "least"),
    [("--seconds", 1), ("--already-running", 0), ("--fault-at", 0),
     ("--fault-seconds", 1)],
)  # fmt: skip
def test_simulate_takes_the_least_and_refuses_less(flag: str, least: int) -> None:
    served = ["simulate", "--serve", "--fault", "tensor_loss", "--fault-node", "node-0001"]
    _check(PARSER.parse_args([*served, flag, str(least)]))
    with pytest.raises(UsageError) as caught:
        _check(PARSER.parse_args([*served, f"{flag}={least - 1}"]))
    assert str(caught.value) == f"{flag} {least - 1}: must be at least {least}"


@pytest.mark.parametrize("speed", ["0", "-1", "1e6", "nan", "inf"])
def test_simulate_has_no_time_that_stands_still_or_flies(speed: str) -> None:
    with pytest.raises(UsageError, match="must be above 0 and below a million"):
        _check(PARSER.parse_args(["simulate", "--serve", f"--speed={speed}"]))
    _check(PARSER.parse_args(["simulate", "--serve", "--speed", "999999"]))


def test_a_faster_simulate_sees_more_seconds_for_the_fault_to_lie_in() -> None:
    fault = ["--fault", "tensor_loss", "--fault-node", "node-0001", "--fault-at", "60"]
    _check(PARSER.parse_args(["simulate", "--serve", *fault, "--seconds", "10", "--speed", "9"]))
    with pytest.raises(UsageError, match="--fault-at 60: only 50 s are seen"):
        _check(PARSER.parse_args(["simulate", "--serve", *fault, "--seconds=10", "--speed=5"]))


def test_what_belongs_together_in_simulate_is_asked_for(tmp_path: Path) -> None:
    fault = refused(tmp_path, "simulate", "--serve", "--fault", "tensor_loss")
    assert "--fault needs --fault-node, such as node-0007" in fault
    for flag in ("--write-prometheus", "--write-hosts"):
        said = refused(tmp_path, "simulate", "--record", str(tmp_path / "r"), flag, "f")
        assert f"{flag} goes with --serve" in said
    assert list(tmp_path.iterdir()) == []


def call_with(address: str) -> Call:
    around = Surroundings(Path("/"), {}, io.StringIO(), io.StringIO())
    parsed = PARSER.parse_args(["diagnose"])
    return Call(parsed, None, Settings(bus=BusSettings(address)), around)


@pytest.mark.parametrize("address", ["kafka://h:1", "unix:/b.sock"])
def test_a_bus_that_exists_is_taken(address: str) -> None:
    assert existing_bus(call_with(address), "diagnose") == address


@pytest.mark.parametrize("address", ["embedded", "kafka"])
def test_a_bus_that_would_have_to_be_started_is_refused_by_name(address: str) -> None:
    with pytest.raises(UsageError, match=r"^collect needs the address of a bus that exists"):
        existing_bus(call_with(address), "collect")


QUICK = ("--set", "bus.connect_timeout_seconds=0.1", "--port", "0")


def test_up_with_a_broker_alone_watches_what_is_there(tmp_path: Path) -> None:
    said = refused(tmp_path, "up", "--kafka", CLOSED, *QUICK)
    assert "no Kafka broker" in said
    assert CLOSED in said
    assert list(tmp_path.iterdir()) == [], "nothing was started and nothing is left"


def test_up_with_a_topic_of_another_tool_keeps_its_own_bus(tmp_path: Path) -> None:
    bus = ("--bus", f"kafka://{CLOSED}")
    said = refused(tmp_path, "up", "--kafka", "h:9", "--kafka-topic", "t", *bus, *QUICK)
    assert CLOSED in said
    assert "h:9" not in said


def test_run_finds_what_cannot_work_in_the_order_of_its_cost(tmp_path: Path) -> None:
    bus = ("--bus", f"kafka://{CLOSED}", *QUICK)
    assert "command not found: nothere" in refused_run(tmp_path, *bus, command="nothere")
    assert "no Kafka broker" in refused_run(tmp_path, *bus)
    assert "belongs to another run" in refused_run(tmp_path, "--bus", "unix:/b", "--port", "0")
    assert "--job 'a/b'" in refused_run(tmp_path, "--job", "a/b", "--bare")
    assert list(tmp_path.iterdir()) == []


def refused_run(folder: Path, *flags: str, command: str = "sh") -> str:
    out, err = io.StringIO(), io.StringIO()
    environment = {"PATH": "/usr/bin:/bin"}
    arguments = ["run", "--debug", *flags, "--", command, "-c", "true"]
    assert dispatch(arguments, Surroundings(folder, environment, out, err)) == 2
    assert (out.getvalue(), err.getvalue().count("\n")) == ("", 1)
    return err.getvalue()
