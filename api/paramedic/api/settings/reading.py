"""Reads settings: defaults, then `paramedic.toml`, then `PARAMEDIC_…` variables, then flags."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paramedic.api.settings.conflicts import refuse_conflicts
from paramedic.api.settings.errors import SettingsFileError, UnknownSettingError
from paramedic.api.settings.schema import (
    SECTIONS,
    SettingDescription,
    Settings,
    known_settings,
)
from paramedic.api.settings.values import Given, checked, parse_text

SETTINGS_FILE = "paramedic.toml"
_PREFIX = "PARAMEDIC_"
NOT_SETTINGS = (
    "PARAMEDIC_JOB",
    "PARAMEDIC_NODE",
    "PARAMEDIC_CONTROL_SOCKET",
    "PARAMEDIC_TELEMETRY_SOCKET",
    "PARAMEDIC_CHECKPOINT_FOLDER",
    "PARAMEDIC_REFERENCE_DATA",
    "PARAMEDIC_RECORDINGS",
    "PARAMEDIC_NOTEBOOKS_QUICK",
    "PARAMEDIC_PROMOTE",
    "PARAMEDIC_KAFKA_SASL_PASSWORD",
    "PARAMEDIC_KAFKA_TLS_KEY_PASSWORD",
    "PARAMEDIC_SOURCE_TOKEN",
    "PARAMEDIC_SOURCE_PASSWORD",
)
"""Variables that Paramedic's processes hand to each other, that notebooks read, and secrets;
reading settings passes them over."""
_TEST_PREFIX = "PARAMEDIC_TEST_"


def read_settings(
    folder: Path,
    environment: Mapping[str, str],
    flags: Mapping[str, Given],
    config: Path | None = None,
) -> Settings:
    """The settings of one process.

    `config` is the file to read; without it `folder/paramedic.toml`, if there is one. `flags` are
    keyed by dotted name. Raises SettingsError with the place, the key, the value and the remedy.
    """
    known = known_settings()
    given = {
        **_from_file(_settings_file(folder, config), known),
        **_from_environment(environment, known),
        **_from_flags(flags, known),
    }
    values = {key: checked(known[key], one) for key, one in given.items()}
    settings = _build(values)
    refuse_conflicts(settings, {key: one.origin for key, one in given.items()})
    return settings


def parse_assignment(text: str) -> tuple[str, Given]:
    """The flag `--set section.name=value`. Raises UnknownSettingError or SettingValueError."""
    known = known_settings()
    key, equals, value = text.partition("=")
    if not equals:
        raise UnknownSettingError(f"--set {text}: write it as --set section.name=value")
    if key not in known:
        raise _unknown("--set", key, list(known))
    return key, parse_text(known[key], value, "--set")


def _settings_file(folder: Path, config: Path | None) -> Path | None:
    if config is not None:
        return config
    usual = folder / SETTINGS_FILE
    return usual if usual.exists() else None


def _from_file(path: Path | None, known: Mapping[str, SettingDescription]) -> dict[str, Given]:
    if path is None:
        return {}
    tables = _load(path)
    given: dict[str, Given] = {}
    for section, table in tables.items():
        if section not in SECTIONS:
            raise _unknown(str(path), section, list(SECTIONS))
        if not isinstance(table, dict):
            raise UnknownSettingError(f"{path}: {section} = {table!r}: write it as [{section}]")
        for name, value in table.items():
            key = f"{section}.{name}"
            if key not in known:
                raise _unknown(str(path), key, list(known))
            given[key] = Given(value, str(path))
    return given


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsFileError(
            f"{path}: cannot be read ({error.strerror}); name another file with --config"
        ) from error
    except ValueError as error:
        raise SettingsFileError(f"{path}: not TOML: {error}") from error


def _from_environment(
    environment: Mapping[str, str], known: Mapping[str, SettingDescription]
) -> dict[str, Given]:
    variables = {setting.variable: setting for setting in known.values()}
    given: dict[str, Given] = {}
    for name, text in environment.items():
        if not name.startswith(_PREFIX) or name in NOT_SETTINGS or name.startswith(_TEST_PREFIX):
            continue
        if name not in variables:
            raise _unknown("environment", name, list(variables))
        given[variables[name].key] = parse_text(variables[name], text, name)
    return given


def _from_flags(
    flags: Mapping[str, Given], known: Mapping[str, SettingDescription]
) -> dict[str, Given]:
    for key, given in flags.items():
        if key not in known:
            raise _unknown(given.origin, key, list(known))
    return dict(flags)


def _unknown(origin: str, key: str, known: list[str]) -> UnknownSettingError:
    near = difflib.get_close_matches(key, known, n=1)
    remedy = f"did you mean {near[0]}?" if near else "docs/settings.md lists what there is"
    return UnknownSettingError(f"{origin}: {key}: no such setting; {remedy}")


def _build(values: Mapping[str, object]) -> Settings:
    sections = {
        section: schema(
            **{
                key.partition(".")[2]: value
                for key, value in values.items()
                if key.partition(".")[0] == section
            }
        )
        for section, schema in SECTIONS.items()
    }
    return Settings(**sections)
