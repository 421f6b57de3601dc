"""What can go wrong with the synthetic cluster."""

from __future__ import annotations

from paramedic.ingest.contract import IngestError


class SyntheticError(IngestError):
    """Base of the errors of the synthetic cluster.

    SyntheticError
    ├── ClusterSettingError   stop: settings out of their range, or that contradict each other
    ├── UnknownFaultError     stop: a fault of an unknown kind, or at a place that does not exist
    └── ListenError           stop: the port or address cannot be listened on
    """


class ClusterSettingError(SyntheticError, ValueError):
    """A setting is out of its range or does not fit another."""


class UnknownFaultError(SyntheticError, ValueError):
    """A fault whose kind or place does not exist in this cluster."""


class ListenError(SyntheticError):
    """The server cannot listen where it was told to."""
