"""What can go wrong with dumps of the flight recorder."""

from __future__ import annotations


class FlightRecorderError(Exception):
    """Base of the errors of flight-recorder dumps.

    FlightRecorderError
    ├── DumpsAbsentError   the folder is not there, or holds no dump: name another
    └── DumpFormatError    stop: a file is there and is no dump
    """


class DumpsAbsentError(FlightRecorderError):
    """There is nothing to read; says what was looked for."""


class DumpFormatError(FlightRecorderError):
    """A file is not of the form of a dump; says which and why."""
