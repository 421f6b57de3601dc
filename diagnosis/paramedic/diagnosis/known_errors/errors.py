"""What can be wrong with a file of known errors."""

from __future__ import annotations


class KnownErrorsError(ValueError):
    """Known errors cannot be used as they are written.

    KnownErrorsError
    ├── KnownErrorsFileError   the file as a whole: not there, not text, not TOML
    └── KnownErrorEntryError   one entry: a field is missing, unknown, or has a value it cannot have
    """


class KnownErrorsFileError(KnownErrorsError):
    """The file cannot be read, or holds something that is no list of known errors."""


class KnownErrorEntryError(KnownErrorsError):
    """An entry cannot be used; the message names file, entry, field, value and remedy."""
