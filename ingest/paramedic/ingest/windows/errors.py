"""What can go wrong when windows are built or asked for."""

from __future__ import annotations

from paramedic.ingest.contract import IngestError


class WindowsError(IngestError):
    """Base of the errors of windows.

    WindowsError
    ├── WindowSettingError    stop: the settings contradict each other; a person has to change them
    ├── WindowNotHeldError    the second is not closed yet, or is older than what is kept
    └── ForeignBatchError     stop: a batch of another job, or a table whose columns do not fit
    """


class WindowSettingError(WindowsError, ValueError):
    """A setting of the windows is out of its range."""


class WindowNotHeldError(WindowsError, LookupError):
    """No window can be given for the second that was asked for."""


class ForeignBatchError(WindowsError, ValueError):
    """A batch that these windows can never take: the caller routed or built it wrongly."""
