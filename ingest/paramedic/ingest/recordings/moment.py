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


@dataclass(frozen=True, slots=True)
class HeardEvent:
    """An event, and when it was heard of (microseconds since 1970); None: nothing is said."""

    event: Event
    heard: int | None = None

    @property
    def arrived(self) -> int:
        """When it was heard of, or else when it happened."""
        if self.heard is not None:
            return self.heard
        return round(self.event.timestamp.timestamp() * MICROSECONDS)
