"""Gathers the rows of many origins into one batch a job, shard and slot.

A slot's batches go out when every origin that lately spoke of the job has spoken of this slot, or
`settle_seconds` after its first row. What comes later goes in a further batch of the same slot.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.ingest.collect.joining import joined
from paramedic.ingest.contract import JobName, Table, TelemetryBatch

if TYPE_CHECKING:
    from paramedic.ingest.collect.routing import Routed
    from paramedic.ingest.collect.sharing import Shard

_GENERATION = 0
_SLOTS_REMEMBERED = 5
"""An origin that has missed so many slots of a job is not waited for."""


@dataclass(slots=True)
class _Open:
    """A job's slot that has not gone out."""

    since: float
    """When its first row came (seconds of the arrival clock)."""
    origins: set[str] = field(default_factory=set)
    pieces: dict[Shard, list[tuple[str, Table]]] = field(default_factory=dict)
    """Origin and rows, by shard."""


@dataclass(slots=True)
class _Roll:
    """The origins that lately spoke of a job."""

    newest: dict[str, int] = field(default_factory=dict)
    """The newest slot of each."""
    slots: deque[int] = field(default_factory=lambda: deque(maxlen=_SLOTS_REMEMBERED))
    """The newest slots that have gone out, oldest first."""

    def call(self, slot: int, present: set[str]) -> None:
        """A batch of this slot has gone out with these origins."""
        for origin in present:
            self.newest[origin] = max(slot, self.newest.get(origin, slot))
        if self.slots and slot <= self.slots[-1]:
            return
        self.slots.append(slot)
        for origin in [one for one, at in self.newest.items() if at < self.slots[0]]:
            del self.newest[origin]


class Assembler:
    """Time is whatever clock the caller reads arrivals from; for one thread."""

    def __init__(self, settle_seconds: float) -> None:
        self._settle_seconds = settle_seconds
        self._open: dict[tuple[JobName, int], _Open] = {}
        self._rolls: dict[JobName, _Roll] = {}

    def add(self, origin: str, routed: list[Routed], now: float) -> Iterator[TelemetryBatch]:
        """Take the rows of a page in; the batches that are complete by that."""
        touched: dict[tuple[JobName, int], _Open] = {}
        for one in routed:
            place = (one.shard.job, one.slot)
            slot = self._open.get(place)
            if slot is None:
                slot = self._open[place] = _Open(now)
            slot.origins.add(origin)
            slot.pieces.setdefault(one.shard, []).append((origin, one.table))
            touched[place] = slot
        for place, slot in touched.items():
            if self._is_complete(place[0], slot):
                yield from self._send_up_to(place)

    def due(self, now: float) -> Iterator[TelemetryBatch]:
        """The batches that have waited long enough, the oldest slot of each job first."""
        late = [
            place for place, slot in self._open.items() if now >= slot.since + self._settle_seconds
        ]
        for place in late:
            yield from self._send_up_to(place)

    def next_due(self) -> float | None:
        """When the next batch will have waited long enough; None while nothing waits."""
        waiting = [slot.since for slot in self._open.values()]
        return min(waiting) + self._settle_seconds if waiting else None

    def forget(self, job: JobName) -> None:
        """The job has ended: nobody is waited for any more."""
        self._rolls.pop(job, None)

    def _is_complete(self, job: JobName, slot: _Open) -> bool:
        roll = self._rolls.get(job)
        return roll is not None and len(slot.origins) >= len(roll.newest)

    def _send_up_to(self, last: tuple[JobName, int]) -> Iterator[TelemetryBatch]:
        """This slot, after the older ones of its job: readers see time go on, not back."""
        job, newest = last
        for slot in sorted(at for of, at in self._open if of == job and at <= newest):
            yield from self._send(job, slot)

    def _send(self, job: JobName, slot: int) -> Iterator[TelemetryBatch]:
        gathered = self._open.pop((job, slot))
        self._rolls.setdefault(job, _Roll()).call(slot, gathered.origins)
        for shard, pieces in sorted(gathered.pieces.items()):
            # By origin, so that the rows stand in the same order in every batch.
            tables = joined([table for _, table in sorted(pieces, key=lambda one: one[0])])
            yield TelemetryBatch(job, _GENERATION, slot, tables, shard.number, shard.of)
