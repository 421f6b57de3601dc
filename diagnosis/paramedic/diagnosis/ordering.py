"""One order for messages of several topics, which a bus keeps only within each topic.

Telemetry stays in the order of its arrival (that is what late means). An event goes before the
first batch of the second it happened in, or of a later one: the batch was published when that
second was over. So a process that reads a backlog sees what a process saw that was there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paramedic.ingest.contract import Event, Message, TelemetryBatch


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message that could be read, and what it says."""

    message: Message
    fact: TelemetryBatch | Event


def in_order(arrivals: Sequence[Arrival]) -> Iterator[Arrival]:
    """What has arrived, of all jobs and topics, in one order."""
    events = deque(sorted(_events(arrivals), key=lambda pair: pair[0]))
    for arrival in arrivals:
        if isinstance(arrival.fact, Event):
            continue
        while events and events[0][0] < arrival.fact.second + 1:
            yield events.popleft()[1]
        yield arrival
    yield from (arrival for _, arrival in events)


def _events(arrivals: Sequence[Arrival]) -> Iterator[tuple[float, Arrival]]:
    """The events with their times in Unix seconds."""
    for arrival in arrivals:
        if isinstance(arrival.fact, Event):
            yield arrival.fact.timestamp.timestamp(), arrival


@dataclass(slots=True)
class StreamTime:
    """The time of a job as its messages tell it: the end of the newest second that was seen.

    It takes the place of the observer's clock, so that a backlog that is read again gives what the
    live stream gave.
    """

    seconds: float = 0.0

    def see(self, batch: TelemetryBatch) -> float:
        """The stream's time when this batch arrived (Unix seconds)."""
        self.seconds = max(self.seconds, batch.second + 1.0)
        return self.seconds
