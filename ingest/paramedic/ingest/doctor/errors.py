"""What can go wrong in doctor."""

from __future__ import annotations

from paramedic.ingest.contract import IngestError


class DoctorError(IngestError):
    """Base of the errors of doctor.

    DoctorError
    └── StorageError    stop: the place cannot be measured; a person has to change something
    """


class StorageError(DoctorError):
    """A place cannot be measured; the message names it, the reason and the remedy."""
