"""The order of a share's messages: while it catches up, and when it is up to date.

A share is caught up with its events first: they wait until the telemetry of their job has come to
the second in which they happened, so that a process that reads a backlog sees what a process saw
that was there.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict, deque
from operator import itemgetter
from typing import TYPE_CHECKING

from paramedic.diagnosis.ordering import Arrival, in_order
from paramedic.ingest.contract import Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paramedic.ingest.contract import JobName

_Waiting = tuple[float, Arrival]
_time = itemgetter(0)


class Backlog:
    """Events that wait for their time, by job."""

    def __init__(self) -> None:
        self.is_over = False
        self._waiting: dict[JobName, deque[_Waiting]] = defaultdict(deque)

    def order(self, arrivals: Sequence[Arrival]) -> Iterator[Arrival]:
        """What may be judged now, in this order."""
        if self.is_over:
            yield from in_order(arrivals)
            return
        for arrival in arrivals:
            fact = arrival.fact
            if isinstance(fact, Event):
                waiting = self._waiting[fact.job]
                insort(waiting, (fact.timestamp.timestamp(), arrival), key=_time)
            else:
                yield from self._due(fact.job, fact.second + 1)
                yield arrival

    def end(self) -> Iterator[Arrival]:
        """The share is up to date: what still waits, in the order in which it happened."""
        self.is_over = True
        rest = [pair for waiting in self._waiting.values() for pair in waiting]
        self._waiting.clear()
        yield from (arrival for _, arrival in sorted(rest, key=_time))

    def _due(self, job: JobName, second: int) -> Iterator[Arrival]:
        waiting = self._waiting.get(job)
        while waiting and waiting[0][0] < second:
            yield waiting.popleft()[1]
