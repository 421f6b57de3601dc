"""What can go wrong with recordings."""

from __future__ import annotations

from paramedic.ingest.contract import IngestError


class RecordingError(IngestError):
    """Base of the errors of recordings.

    RecordingError
    ├── RecordingExistsError   stop: the folder holds a recording already
    ├── RecordingWriteError    the folder cannot be written: no space, no permission
    ├── RecordingFormatError   stop: the folder is no recording, or a file of it cannot be used
    ├── ReaderLostError        try again: the process that reads it has ended
    └── CutError               stop: what was to be cut out is not there
    """


class RecordingExistsError(RecordingError):
    """The folder holds a recording already, which is never written over."""


class RecordingWriteError(RecordingError):
    """The recording cannot be written where it was told to."""

    def __init__(self, what: str, remedy: str = "name another folder") -> None:
        """`what` cannot be written and why, and what helps."""
        super().__init__(f"{what}: {remedy}")
        self.what = what


class RecordingFormatError(RecordingError):
    """The folder is no recording, or a file of it cannot be used; says which, where and why."""


class ReaderLostError(RecordingError):
    """The process that reads the recording ended before it was done; says how."""


class CutError(RecordingError):
    """The stretch of time that was to be cut out is not there."""
