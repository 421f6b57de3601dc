"""Flags over variables over the file over defaults, for every setting and any mixture of them."""

from __future__ import annotations

import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.settings.errors import SettingConflictError, SettingsError
from paramedic.api.settings.reading import NOT_SETTINGS, parse_assignment, read_settings
from paramedic.api.settings.schema import (
    SECTIONS,
    SettingDescription,
    Settings,
    describe_settings,
    known_settings,
)
from paramedic.api.settings.values import Given

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"
NUMERIC = [setting for setting in describe_settings() if setting.kind in (int, float)]
NOWHERE = Path("/nonexistent")


def value_of(settings: Settings, setting: SettingDescription) -> Any:
    return getattr(getattr(settings, setting.section), setting.name)


def values_of(setting: SettingDescription) -> st.SearchStrategy[int | float]:
    low, high = setting.limits.minimum, setting.limits.maximum
    assert low is not None
    assert high is not None
    return st.integers(int(low), int(high)) if setting.kind is int else st.floats(low, high)


Places = dict[str, dict[SettingDescription, int | float]]


@st.composite
def places(draw: st.DrawFn) -> Places:
    """What file, variables and flags say, each of some of the settings."""
    said: Places = {}
    for place in ("file", "variable", "flag"):
        chosen = draw(st.lists(st.sampled_from(NUMERIC), unique_by=lambda one: one.key, max_size=4))
        said[place] = {setting: draw(values_of(setting)) for setting in chosen}
    return said


def read(said: Places) -> Settings:
    tables: dict[str, list[str]] = {}
    for setting, value in said["file"].items():
        tables.setdefault(setting.section, []).append(f"{setting.name} = {value!r}")
    text = "".join(f"[{name}]\n" + "\n".join(rows) + "\n" for name, rows in tables.items())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "paramedic.toml").write_text(text, encoding="utf-8")
        return read_settings(
            Path(folder),
            {setting.variable: str(value) for setting, value in said["variable"].items()},
            {setting.key: Given(value, "--set") for setting, value in said["flag"].items()},
        )


@given(places())
def test_of_several_places_the_highest_says_what_holds(said: Places) -> None:
    try:
        settings = read(said)
    except SettingConflictError:
        return
    for setting in describe_settings():
        expected: object = setting.default
        for place in ("file", "variable", "flag"):
            expected = said[place].get(setting, expected)
        assert value_of(settings, setting) == expected


@pytest.mark.parametrize("setting", describe_settings(), ids=lambda setting: setting.key)
def test_every_setting_is_reached_by_its_variable_and_by_an_assignment(
    setting: SettingDescription,
) -> None:
    text = str(setting.default)
    by_variable = read_settings(NOWHERE, {setting.variable: text}, {})
    by_flag = read_settings(NOWHERE, {}, dict([parse_assignment(f"{setting.key}={text}")]))
    assert by_variable == by_flag == Settings()


@pytest.mark.parametrize("setting", NUMERIC, ids=lambda setting: setting.key)
def test_the_limits_themselves_are_taken_or_conflict_with_another_setting(
    setting: SettingDescription,
) -> None:
    for limit in (setting.limits.minimum, setting.limits.maximum):
        value = setting.kind(limit)
        found = settings_or_refusal({}, {setting.key: Given(value, "--set")})
        if isinstance(found, Settings):
            assert value_of(found, setting) == value
        else:
            assert isinstance(found, SettingConflictError)
            assert setting.key in str(found)


def settings_or_refusal(
    environment: dict[str, str], flags: dict[str, Given]
) -> Settings | SettingsError:
    try:
        return read_settings(NOWHERE, environment, flags)
    except SettingsError as error:
        return error


def test_a_value_that_a_higher_place_overrules_is_not_even_judged(tmp_path: Path) -> None:
    (tmp_path / "paramedic.toml").write_text("[api]\nport = 99999\n")
    assert read_settings(tmp_path, {"PARAMEDIC_API_PORT": "1"}, {}).api.port == 1


def test_a_later_assignment_of_the_same_setting_holds() -> None:
    flags = dict(map(parse_assignment, ("job.ranks=2", "job.ranks=3")))
    assert read_settings(NOWHERE, {}, flags).job.ranks == 3


def test_an_assignment_may_hold_an_equals_sign() -> None:
    key, given_value = parse_assignment("collect.role_labels=switch=leaf,rack=r")
    assert (key, given_value.value) == ("collect.role_labels", "switch=leaf,rack=r")


def test_sections_are_the_tables_of_the_file_and_names_are_distinct() -> None:
    assert list(SECTIONS) == [field.name for field in fields(Settings)]
    assert len(known_settings()) == len(describe_settings())


@pytest.mark.parametrize("variable", NOT_SETTINGS)
def test_variables_that_are_no_settings_are_documented_and_passed_over(variable: str) -> None:
    assert f"`{variable}`" in PAGE.read_text(encoding="utf-8")
    assert read_settings(NOWHERE, {variable: "anything"}, {}) == Settings()


@given(
    st.dictionaries(
        st.sampled_from(
            [f"PARAMEDIC_{word}" for word in ("API_PORT", "JOB_RANKS", "X", "JOB_", "")]
        ),
        st.text(max_size=8),
        min_size=1,
    )
)
def test_whatever_variables_say_the_refusal_names_one_of_them(environment: dict[str, str]) -> None:
    found = settings_or_refusal(environment, {})
    if isinstance(found, SettingsError):
        assert any(name in str(found) for name in environment)
        assert "\n" not in str(found)
