"""What can keep a run from starting, or break it."""

from __future__ import annotations


class WiringError(Exception):
    """Base of what the wiring refuses; exit code 2.

    WiringError
    ├── PreflightError      found before anything was started; a person has to change something
    ├── RunRecordError      a run.json cannot be read or is not one
    ├── InputError          a file or page that a tool was given cannot be used
    └── OutputError         what is told cannot be written, such as on a full disk
    """


class PreflightError(WiringError):
    """Something cannot work, and nothing has been started."""


class RunRecordError(WiringError):
    """A run.json cannot be read or is not one."""


class InputError(WiringError):
    """A file or page that a tool was given cannot be read, or is nothing that the tool reads."""


class OutputError(WiringError):
    """Standard output or standard error takes no more, such as on a full disk."""
