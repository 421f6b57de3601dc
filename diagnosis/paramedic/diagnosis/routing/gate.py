"""Lets the slots of a large job through second by second, all shards of a second together.

The shards are aligned by different members. One that falls behind for a while (its member died, and
another takes over) would make every node of its shard look silent, so the others wait for it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.ingest.contract import Message, TelemetryBatch

_NOWHERE = -1


@dataclass(frozen=True, slots=True, order=True)
class _Waiting:
    """A slot in front of the gate."""

    second: int
    shard: int
    order: int
    entered_at: float = field(compare=False)
    message: Message = field(compare=False)
    slot: TelemetryBatch = field(compare=False)


class SlotGate:
    """The slots of one job. A shard that is behind for too long is no longer waited for."""

    def __init__(self, patience_seconds: float) -> None:
        self._patience_seconds = patience_seconds
        self._waiting: list[_Waiting] = []
        self._order = count()
        self._reached: dict[int, int] = {}
        """The newest second of each shard."""
        self._given_up: set[int] = set()
        self._passed = _NOWHERE
        """The newest second that was let through."""

    def enter(self, message: Message, slot: TelemetryBatch, now: float) -> None:
        """A slot has come; `now` is any steady clock, in seconds."""
        waiting = _Waiting(slot.second, slot.shard, next(self._order), now, message, slot)
        heapq.heappush(self._waiting, waiting)
        reached = max(slot.second, self._reached.get(slot.shard, _NOWHERE))
        self._reached = {
            shard: self._reached.get(shard, _NOWHERE)
            for shard in range(max(slot.shards, slot.shard + 1))
        }
        self._reached[slot.shard] = reached
        if reached >= self._passed:
            self._given_up.discard(slot.shard)

    def leave(self, now: float, *, has_patience: bool) -> Iterator[tuple[Message, TelemetryBatch]]:
        """The slots whose second every shard has reached, oldest first.

        With `has_patience` nobody is given up: while a backlog is read the clock says nothing.
        """
        while self._waiting and (self._is_complete() or self._is_overdue(now, has_patience)):
            first = heapq.heappop(self._waiting)
            self._passed = max(self._passed, first.second)
            yield first.message, first.slot

    @property
    def oldest_offset(self) -> int | None:
        """Of the messages that still wait."""
        return min((one.message.offset for one in self._waiting), default=None)

    def _is_complete(self) -> bool:
        """Whether all that are waited for have reached the second of the first in line."""
        behind = (at for shard, at in self._reached.items() if shard not in self._given_up)
        return self._waiting[0].second <= min(behind, default=self._waiting[0].second)

    def _is_overdue(self, now: float, has_patience: bool) -> bool:
        first = self._waiting[0]
        if has_patience or now - first.entered_at < self._patience_seconds:
            return False
        self._given_up |= {shard for shard, at in self._reached.items() if at < first.second}
        return True
