"""A recording that has been looked through: what is told of it is known before it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import merge

from paramedic.ingest.contract import NodeName
from paramedic.ingest.recordings.description import JobDescription
from paramedic.ingest.recordings.moment import MICROSECONDS, HeardEvent, Moment

ROWS_AT_ONCE = 60_000


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known of a recording before its rows are read."""

    job: JobDescription
    remarks: list[str]
    """What is not as it should be, and what becomes of it; a line each."""
    seconds: range
    """From the first second that telemetry speaks of to the last."""
    nodes: frozenset[NodeName]
    """Every node that telemetry speaks of."""
    rows: int
    """Rows of all files."""
    events: tuple[HeardEvent, ...]
    """In the order of their arrival."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Batches that are complete at the same point of reading."""

    moments: list[Moment]
    repeated_rows: int
    """Of all that has been read by then."""


Portions = Callable[[int], Iterator[Portion]]
"""Reads all batches in order, so many rows at a time."""


class Recording:
    """An outline, and a way to what it is of."""

    def __init__(self, outline: Outline, portions: Portions) -> None:
        self.outline = outline
        self.portions = portions
        self.repeated_rows = 0
        """Rows that said again what another row had said, as far as it has been read."""

    @property
    def job(self) -> JobDescription:
        """The job that was recorded."""
        return self.outline.job

    @property
    def remarks(self) -> list[str]:
        """What is not as it should be, and what becomes of it; a line each."""
        return self.outline.remarks

    @property
    def seconds(self) -> range:
        """From the first second that telemetry speaks of to the last."""
        return self.outline.seconds

    @property
    def ends(self) -> int:
        """The Unix second at which telemetry and events have been told."""
        heard = (one.arrived // MICROSECONDS + 1 for one in self.outline.events[-1:])
        return max(self.seconds.stop, *heard, 0)

    @property
    def nodes(self) -> frozenset[NodeName]:
        """Every node that telemetry speaks of."""
        return self.outline.nodes

    @property
    def rows(self) -> int:
        """Rows of all files."""
        return self.outline.rows

    def moments(self, rows_at_once: int = ROWS_AT_ONCE) -> Iterator[Moment]:
        """Everything, in the order of its arrival; what arrives with a batch comes after it."""
        events = [Moment(one.arrived, one.event) for one in self.outline.events]
        return merge(self._batches(rows_at_once), events, key=lambda one: one.arrived)

    def _batches(self, rows_at_once: int) -> Iterator[Moment]:
        for portion in self.portions(rows_at_once):
            self.repeated_rows = portion.repeated_rows
            yield from portion.moments
