"""docs/settings.md and the schema say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paramedic.api.settings.schema import SettingDescription, describe_settings
from paramedic.api.settings.values import wanted

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"
ROW = re.compile(r"^\| `([a-z_.]+)` \| `([^`]*)` \| ([^|]*) \| (.*) \|$", re.MULTILINE)
UNITS = ("_seconds", "_bytes", "_ratio", "_per_job_day", "_per_week")


def rows() -> dict[str, tuple[str, str, str]]:
    return {
        key: (default, takes, words)
        for key, default, takes, words in ROW.findall(PAGE.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("setting", describe_settings(), ids=lambda setting: setting.key)
def test_every_setting_is_documented_with_its_default(setting: SettingDescription) -> None:
    documented = rows()[setting.key]
    assert documented == (str(setting.default), wanted(setting), setting.limits.meaning)


def test_no_setting_is_documented_that_does_not_exist() -> None:
    assert set(rows()) == {setting.key for setting in describe_settings()}


@pytest.mark.parametrize("setting", describe_settings(), ids=lambda setting: setting.key)
def test_a_setting_with_fractions_carries_its_unit_in_its_name(setting: SettingDescription) -> None:
    if setting.kind is float:
        assert setting.name.endswith(UNITS)


def test_variables_are_distinct_and_belong_to_one_setting_each() -> None:
    variables = [setting.variable for setting in describe_settings()]
    assert len(set(variables)) == len(variables)
