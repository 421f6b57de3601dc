"""What can go wrong in collect."""

from __future__ import annotations

from paramedic.ingest.contract import IngestError


class CollectError(IngestError):
    """Base of the errors of collect.

    CollectError
    ├── CollectSettingError    stop: a setting cannot be used; a person has to change it
    └── NoSourceLeftError      stop: every source has said that it can never work
    """


class CollectSettingError(CollectError):
    """A setting of collect cannot be used; the message names it and what to choose."""


class NoSourceLeftError(CollectError):
    """Every source has ended by itself; the message carries what they said."""
