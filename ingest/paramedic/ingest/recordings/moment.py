"""One thing that a recording tells, and when it was heard of."""

from __future__ import annotations

from dataclasses import dataclass

from paramedic.ingest.contract import Event, TelemetryBatch

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Moment:
    """A batch, or an event."""

    arrived: int
    """Microseconds since 1970. A batch has arrived with the last of its rows; an event of which
    nothing is said, when it happened."""
    fact: TelemetryBatch | Event
