"""What `collect` and `up` need to be installed, and which bus they use."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from paramedic.api.command_line.collect_verb import COLLECT
from paramedic.api.command_line.dispatch import read_call
from paramedic.api.command_line.parser import build_parser
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.command_line.up_verb import UP
from paramedic.api.command_line.verbs import Verb
from paramedic.api.settings.schema import BusSettings, Settings


def packages(verb: Verb, *flags: str, bus: str = "embedded") -> set[str]:
    parsed = build_parser([verb]).parse_args([verb.name, *flags])
    return set(verb.packages(parsed, Settings(bus=BusSettings(address=bus))))


@pytest.mark.parametrize(
    ("flags", "needed"),
    [
        (("--prometheus", "http://p"), {"prometheus_api_client", "requests"}),
        (("--exporters", "hosts"), {"aiohttp"}),
        (("--nvml",), {"pynvml"}),
        (("--kafka", "b:1", "--kafka-topic", "t"), {"kafka"}),
        (("--kernel-log", "journal"), set()),
    ],
)
def test_each_source_asks_for_its_own_packages_only(
    flags: tuple[str, ...], needed: set[str]
) -> None:
    optional = {"prometheus_api_client", "requests", "aiohttp", "pynvml", "kafka"}
    for verb in (COLLECT, UP):
        assert packages(verb, *flags) & optional == needed
        assert "numpy" in packages(verb, *flags)


def test_a_broker_as_bus_and_a_metrics_page_ask_for_theirs() -> None:
    assert "kafka" in packages(COLLECT, "--nvml", bus="kafka://b:1")
    assert "kafka" in packages(UP, "--nvml", bus="kafka://b:1")
    assert "prometheus_client" in packages(COLLECT, "--nvml", "--metrics-port", "9")
    assert "prometheus_client" not in packages(COLLECT, "--nvml")


def test_up_needs_what_serves_and_stores_and_collect_does_not() -> None:
    served = {"fastapi", "sqlalchemy", "uvicorn"}
    assert served <= packages(UP, "--nvml")
    assert not served & packages(COLLECT, "--nvml")


def test_labels_are_settings_with_flags_of_their_own(tmp_path: Path) -> None:
    around = Surroundings(tmp_path, {}, io.StringIO(), io.StringIO())
    flags = ("--kernel-log", "journal", "--job-labels", "workload", "--role-labels", "rack=r")
    for verb in ("collect", "up"):
        _verb, call = read_call([verb, *flags, "--debug"], around)
        assert call.settings.collect.job_labels == "workload"
        assert call.settings.collect.role_labels == "rack=r"
