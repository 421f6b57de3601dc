"""Looking for recordings in folders that the system may not let anybody look into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paramedic.ingest.drafts import reason_of
from paramedic.ingest.recordings.errors import RecordingFormatError


@contextmanager
def looking() -> Iterator[None]:
    """What the system refuses becomes a RecordingFormatError that names the file or folder."""
    try:
        yield
    except OSError as error:
        raise RecordingFormatError(
            f"{error.filename} cannot be looked at: {reason_of(error)}: see that you may read it,"
            " and all folders above it"
        ) from error
