"""What can be wrong with settings."""

from __future__ import annotations


class SettingsError(Exception):
    """Base of everything that is wrong with settings; a person has to change something.

    SettingsError
    ├── SettingsFileError      the file cannot be read or is not TOML
    ├── UnknownSettingError    no setting has this name
    ├── SettingValueError      the value has the wrong type or lies outside its limits
    └── SettingConflictError   two values cannot hold together
    """


class SettingsFileError(SettingsError):
    """The settings file cannot be read or is not TOML."""


class UnknownSettingError(SettingsError):
    """No setting has this name."""


class SettingValueError(SettingsError):
    """A value has the wrong type or lies outside its limits."""


class SettingConflictError(SettingsError):
    """Two values that cannot hold together."""
