"""Whatever settings a run has, its services read the same ones from their flags."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from paramedic.api.command_line.parser import build_parser
from paramedic.api.settings.errors import SettingConflictError
from paramedic.api.settings.reading import parse_assignment, read_settings
from paramedic.api.settings.schema import SettingDescription, Settings, describe_settings
from paramedic.api.settings.values import Given
from paramedic.api.wiring.service_commands import INTERPRETER, setting_flags
from paramedic.api.wiring.translation import diagnose_config, membership_rules, remediate_config

NUMERIC = [setting for setting in describe_settings() if setting.kind in (int, float)]
NOWHERE = Path("/nonexistent")


def values_of(setting: SettingDescription) -> st.SearchStrategy[int | float]:
    low, high = setting.limits.minimum, setting.limits.maximum
    assert low is not None
    assert high is not None
    if setting.kind is int:
        return st.integers(int(low), int(high))
    return st.floats(low, high)


@st.composite
def settings_of_a_run(draw: st.DrawFn) -> Settings:
    """Settings that hold together."""
    chosen = draw(st.lists(st.sampled_from(NUMERIC), unique_by=lambda one: one.key, max_size=6))
    flags = {one.key: Given(draw(values_of(one)), "--set") for one in chosen}
    try:
        return read_settings(NOWHERE, {}, flags)
    except SettingConflictError:
        return Settings()


def read_back(flags: tuple[str, ...]) -> Settings:
    parsed: Namespace = build_parser().parse_args(["diagnose", *flags])
    given = dict(parse_assignment(text) for text in parsed.assignments)
    return read_settings(NOWHERE, {}, given)


@pytest.mark.long
@budget(max_examples=30)  # a parser with all its flags is built for each
@given(settings_of_a_run())
def test_settings_are_the_same_after_the_way_through_flags(settings: Settings) -> None:
    assert read_back(setting_flags(settings, {})) == settings


@given(settings_of_a_run())
def test_whatever_settings_take_the_parts_take_too(settings: Settings) -> None:
    diagnosis = diagnose_config(settings).detector
    assert diagnosis.windows.slots == settings.detection.window_seconds
    assert diagnosis.silence.early_silence_seconds <= diagnosis.silence.heartbeat_timeout_seconds
    assert membership_rules(settings).ranks == settings.job.ranks
    remediation = remediate_config(settings)
    assert remediation.controller.effect_timeout_seconds == settings.recovery.target_seconds


def test_an_override_wins_over_the_settings() -> None:
    flags = setting_flags(Settings(), {"bus.address": "unix:/tmp/b", "job.spares": 0})
    assert read_back(flags).bus.address == "unix:/tmp/b"
    assert read_back(flags).job.spares == 0


def test_the_users_folder_offers_no_modules_to_our_processes() -> None:
    assert INTERPRETER[:2] == (sys.executable, "-P")
