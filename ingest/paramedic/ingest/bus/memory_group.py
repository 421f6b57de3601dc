"""Groups inside one process: the fake of the port, with partitions, rebalances and rude deaths."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from paramedic.ingest.bus.failing import FailsOnRequest
from paramedic.ingest.bus.group import Claim, Delivery, Mark, Marks
from paramedic.ingest.bus.limits import encoded_key
from paramedic.ingest.contract import Message, Start, Topic


class MemoryGroupBus(FailsOnRequest):
    """Keeps everything in partitions by key; members divide them by their order of joining.

    Nothing waits: a poll without messages returns at once.
    """

    def __init__(self, partitions: int = 4, poll_limit: int = 100) -> None:
        """`poll_limit` is how many messages of a partition come in one poll."""
        self.partitions = partitions
        self.poll_limit = poll_limit
        self.logs: dict[Topic, list[list[Message]]] = {
            topic: [[] for _ in range(partitions)] for topic in Topic
        }
        self.marks: dict[str, dict[tuple[int, Topic], Mark]] = defaultdict(dict)
        self.members: dict[str, list[MemoryMembership]] = defaultdict(list)

    def share_of(self, key: str) -> int:
        """The partition of a key."""
        return zlib.crc32(key.encode()) % self.partitions

    def publisher(self) -> MemoryGroupPublisher:
        """A new publisher."""
        self.require_available()
        return MemoryGroupPublisher(self)

    def subscribe(self, topics: Sequence[Topic], start: Start) -> MemoryPartitionsSubscription:
        """A new, independent subscription to all partitions."""
        self.require_available()
        return MemoryPartitionsSubscription(self, topics, start)

    def join(
        self, group: str, topics: Sequence[Topic], from_the_beginning: Collection[Topic]
    ) -> MemoryMembership:
        """Become a member; the others learn of it at their next poll."""
        self.require_available()
        member = MemoryMembership(self, group, topics, from_the_beginning)
        self.members[group].append(member)
        return member

    def held(self, topic: Topic) -> Iterator[Message]:
        """Every message of a topic, partition by partition."""
        self.require_available()
        return (message for log in self.logs[topic] for message in list(log))

    def kill(self, member: MemoryMembership) -> None:
        """The member is gone without a word; the others share what it had."""
        self.members[member.group].remove(member)
        member.is_member = False


class MemoryGroupPublisher:
    """Appends at once."""

    def __init__(self, bus: MemoryGroupBus) -> None:
        self._bus = bus

    def publish(self, topic: Topic, key: str, payload: bytes) -> None:
        """Append one message. Raises ContractError, or BusUnavailableError when made to fail."""
        self._bus.require_available()
        encoded_key(topic, key, payload)
        share = self._bus.share_of(key)
        log = self._bus.logs[topic][share]
        log.append(Message(topic, key, payload, len(log), share))

    def flush(self, timeout_seconds: float) -> None:  # noqa: ARG002 (the port's signature)
        """Everything is accepted already. Raises BusUnavailableError when made to fail."""
        self._bus.require_available()

    def close(self) -> None:
        """Nothing is open."""


class MemoryPartitionsSubscription:
    """Reads all partitions of some topics."""

    def __init__(self, bus: MemoryGroupBus, topics: Sequence[Topic], start: Start) -> None:
        self._bus = bus
        self._next = {
            (topic, share): 0 if start is Start.EARLIEST else len(log)
            for topic in topics
            for share, log in enumerate(bus.logs[topic])
        }

    def poll(self, timeout_seconds: float) -> Sequence[Message]:  # noqa: ARG002 (the port's)
        """What has arrived. Raises BusUnavailableError when made to fail."""
        self._bus.require_available()
        found: list[Message] = []
        for (topic, share), offset in self._next.items():
            fresh = self._bus.logs[topic][share][offset:]
            self._next[topic, share] += len(fresh)
            found.extend(fresh)
        return found

    def close(self) -> None:
        """Nothing is open."""


class MemoryMembership:
    """One member; who has which share is settled at every poll."""

    def __init__(
        self,
        bus: MemoryGroupBus,
        group: str,
        topics: Sequence[Topic],
        from_the_beginning: Collection[Topic],
    ) -> None:
        self.group = group
        self.is_member = True
        self._bus = bus
        self._topics = tuple(topics)
        self._whole = frozenset(from_the_beginning)
        self._next: dict[tuple[int, Topic], int] = {}
        self._held: set[tuple[int, Topic]] = set()
        self._shares: frozenset[int] = frozenset()

    def poll(self, timeout_seconds: float) -> Delivery:  # noqa: ARG002 (the port's signature)
        """What has changed and arrived. Raises BusUnavailableError when made to fail."""
        self._bus.require_available()
        owned = self._owned()
        lost, gained = self._shares - owned, owned - self._shares
        self._shares = owned
        claims = tuple(self._claim(share) for share in sorted(gained))
        return Delivery(tuple(sorted(lost)), claims, self._read())

    def hold(self, share: int, topics: Collection[Topic]) -> None:
        """Read no more of these topics of a share until `release`."""
        self._held.update((share, topic) for topic in topics)

    def release(self, share: int) -> None:
        """Read all topics of a share."""
        self._held = {(one, topic) for one, topic in self._held if one != share}

    def lag(self, share: int) -> Mapping[Topic, int | None]:
        """Messages of each topic that are still to come."""
        return {
            topic: len(self._bus.logs[topic][share]) - self._next[share, topic]
            for topic in self._topics
        }

    def commit(self, marks: Marks) -> bool:
        """Keep the marks, unless the shares have moved on. Raises BusUnavailableError."""
        self._bus.require_available()
        if self._owned() != self._shares:
            return False
        self._bus.marks[self.group].update(marks)
        return True

    def close(self) -> None:
        """Leave the group."""
        if self.is_member:
            self._bus.kill(self)

    def _owned(self) -> frozenset[int]:
        if not self.is_member:
            return frozenset()
        members = self._bus.members[self.group]
        return frozenset(range(members.index(self), self._bus.partitions, len(members)))

    def _claim(self, share: int) -> Claim:
        self.release(share)
        kept = self._bus.marks[self.group]
        for topic in self._topics:
            mark = kept.get((share, topic))
            self._next[share, topic] = 0 if mark is None or topic in self._whole else mark.needed
        return Claim(
            share, {topic: mark.judged for (at, topic), mark in kept.items() if at == share}
        )

    def _read(self) -> dict[int, list[Message]]:
        read = {share: self._read_share(share) for share in sorted(self._shares)}
        return {share: messages for share, messages in read.items() if messages}

    def _read_share(self, share: int) -> list[Message]:
        found: list[Message] = []
        for topic in self._topics:
            if (share, topic) not in self._held:
                offset = self._next[share, topic]
                fresh = self._bus.logs[topic][share][offset : offset + self._bus.poll_limit]
                self._next[share, topic] += len(fresh)
                found.extend(fresh)
        return found
