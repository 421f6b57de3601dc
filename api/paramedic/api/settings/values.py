"""Turns what a file, a variable or a flag says into a checked value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.api.settings.errors import SettingValueError
from paramedic.api.settings.schema import SettingDescription

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Limits

_KIND_NAMES = {int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True, slots=True)
class Given:
    """A value as it was given, and where."""

    value: object
    origin: str
    """Such as `paramedic.toml`, `PARAMEDIC_API_PORT` or `--port`."""


def parse_text(setting: SettingDescription, text: str, origin: str) -> Given:
    """A variable or flag as a value of the setting's type.

    Raises SettingValueError when the text is not one.
    """
    if setting.kind is str:
        return Given(text, origin)
    try:
        return Given(setting.kind(text), origin)
    except ValueError:
        raise _wrong(setting, Given(text, origin)) from None


def checked(setting: SettingDescription, given: Given) -> object:
    """The value, once type and limits hold. Raises SettingValueError when they do not."""
    value = given.value
    if setting.kind is float and type(value) is int:
        value = float(value)
    if type(value) is not setting.kind or value == "":
        raise _wrong(setting, given)
    if isinstance(value, int | float) and not _inside(value, setting.limits):
        raise _wrong(setting, given)
    return value


def _inside(value: float, limits: Limits) -> bool:
    low = limits.minimum if limits.minimum is not None else float("-inf")
    high = limits.maximum if limits.maximum is not None else float("inf")
    return low <= value <= high


def _wrong(setting: SettingDescription, given: Given) -> SettingValueError:
    return SettingValueError(
        f"{given.origin}: {setting.key} = {given.value!r}: needs {wanted(setting)} "
        f"(default {setting.default!r})"
    )


def wanted(setting: SettingDescription) -> str:
    """The values that a setting takes, in words."""
    low, high = setting.limits.minimum, setting.limits.maximum
    kind = _KIND_NAMES[setting.kind]
    return kind if low is None or high is None else f"{kind} from {low:g} to {high:g}"
