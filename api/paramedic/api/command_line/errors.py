"""What the command line itself refuses."""

from __future__ import annotations


class CommandLineError(Exception):
    """Base of what the command line refuses before any part is started; exit code 2.

    CommandLineError
    ├── UsageError          a flag or argument is missing, unknown or cannot be combined
    └── MissingExtraError   the verb needs packages that are not installed
    """


class UsageError(CommandLineError):
    """A flag or argument is missing, unknown or cannot be combined."""


class MissingExtraError(CommandLineError):
    """The verb needs packages that are not installed."""
