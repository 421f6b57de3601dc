"""What can go wrong with real data of others."""

from __future__ import annotations


class RealSetError(Exception):
    """Base of the errors of real sets.

    RealSetError
    ├── RealSetAbsentError   the data is not there: name another folder, or go without
    └── RealSetFormatError   stop: a file is there and is not what it should be
    """


class RealSetAbsentError(RealSetError):
    """The folder, or a file of it, is not there."""


class RealSetFormatError(RealSetError):
    """A file is not of the form that its set has; says which and why."""
