"""Whether a broker still holds what it once took: it may come back with an empty disk."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka import TopicPartition


class BrokerMemory:
    """Follows the offsets that a broker acknowledges; they only grow as long as it forgets nothing.

    A topic that is no more, or whose offsets begin again, is one reset, however many partitions
    show it: what comes after it is measured anew.
    """

    def __init__(self) -> None:
        self._reached: dict[TopicPartition, int] = {}
        self._taken = 0
        self.resets = 0
        self.forgotten = 0
        """Messages that were taken before a reset."""

    def took(self, partition: TopicPartition, offset: int) -> None:
        """The broker has acknowledged a message; one that does not say where gives an offset
        below zero."""
        if offset < 0:
            return
        if offset <= self._reached.get(partition, -1):
            self._begin_anew()
        self._reached[partition] = offset
        self._taken += 1

    def made(self, topics: Collection[str]) -> None:
        """Topics that were missing have been made."""
        if any(partition.topic in topics for partition in self._reached):
            self._begin_anew()

    def _begin_anew(self) -> None:
        self.resets += 1
        self.forgotten += self._taken
        self._taken = 0
        self._reached.clear()
