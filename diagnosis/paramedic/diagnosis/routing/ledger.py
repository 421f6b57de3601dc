"""Accepts every slot once: the sink's side of delivery that repeats itself after a crash."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from paramedic.ingest.contract import JobName, TelemetryBatch


@dataclass(frozen=True, slots=True)
class SlotKey:
    """What tells one dense slot from every other."""

    job: JobName
    shard: int
    second: int
    generation: int

    @classmethod
    def of(cls, slot: TelemetryBatch) -> SlotKey:
        """The key of a slot."""
        return cls(slot.job, slot.shard, slot.second, slot.generation)


@dataclass(slots=True)
class _Seen:
    """The slots of one shard, oldest first, none older than the memory."""

    floor: tuple[int, int]
    """Second and generation: what lies below was there before, or is too old to be told."""
    slots: list[tuple[int, int]] = field(default_factory=list)


class SlotLedger:
    """Remembers the slots of the last seconds of each shard.

    The slots of a shard are published in the order of their seconds, and begin again earlier only
    after a crash. So one that is older than the memory, or than the first that was seen of its
    shard, is a repeat.

    >>> ledger = SlotLedger(memory_seconds=60)
    >>> slot = SlotKey(JobName("llama-7b"), shard=3, second=1_780_000_000, generation=0)
    >>> ledger.accept(slot), ledger.accept(slot), ledger.accepted, ledger.repeated
    (True, False, 1, 1)
    """

    def __init__(self, memory_seconds: int) -> None:
        self._memory_seconds = memory_seconds
        self._shards: dict[tuple[JobName, int], _Seen] = {}
        self.accepted = 0
        self.repeated = 0

    def accept(self, key: SlotKey) -> bool:
        """Whether the slot is new; a repeat is counted."""
        place = (key.second, key.generation)
        seen = self._shards.setdefault((key.job, key.shard), _Seen(place))
        at = bisect_left(seen.slots, place)
        if place < seen.floor or seen.slots[at : at + 1] == [place]:
            self.repeated += 1
            return False
        insort(seen.slots, place)
        self._forget(seen)
        self.accepted += 1
        return True

    def forget(self, job: JobName) -> None:
        """The job is over."""
        self._shards = {place: seen for place, seen in self._shards.items() if place[0] != job}

    def __len__(self) -> int:
        """How many slots are remembered."""
        return sum(len(seen.slots) for seen in self._shards.values())

    def _forget(self, seen: _Seen) -> None:
        floor = (seen.slots[-1][0] - self._memory_seconds, 0)
        if floor > seen.floor:
            seen.floor = floor
            del seen.slots[: bisect_left(seen.slots, floor)]
