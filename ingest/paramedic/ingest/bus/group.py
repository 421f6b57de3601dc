"""A group of processes that share the work of some topics: the port of its members.

The topics of a group have the same number of partitions. Partitions of one number form a *share*,
which moves between the members as one: whatever is published under one key, on whichever of the
topics, reaches the same member. Memory and Kafka pass one suite,
tests/contracts/test_group_contract.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from paramedic.ingest.contract import Bus, Message, Topic


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a member has come in one partition of a topic."""

    needed: int
    """Offset of the oldest message that is still needed: a successor reads on from here."""
    judged: int
    """Offset below which everything is done, and the bus has taken what came of it."""


Marks = Mapping[tuple[int, Topic], Mark]
"""Marks by share and topic."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A share that a member has just been given."""

    share: int
    judged: Mapping[Topic, int]
    """What was committed as judged; a topic without a mark is not there."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a poll has brought, to be taken in this order: lost, gained, messages."""

    lost: tuple[int, ...] = ()
    """Shares that now belong to somebody else, or will: forget what is known of them."""
    gained: tuple[Claim, ...] = ()
    messages: Mapping[int, Sequence[Message]] = field(default_factory=dict)
    """By share, of the shares that are held now; in the order of each partition."""
    bus_answers: bool = True
    """False while the bus is known to be away: what is silent now may be on its way."""


class Membership(Protocol):
    """One member of a group."""

    def poll(self, timeout_seconds: float) -> Delivery:
        """What has changed and arrived, waiting at most the time-out.

        Raises BusUnavailableError when the bus is gone and did not come back in time.
        """
        ...

    def hold(self, share: int, topics: Collection[Topic]) -> None:
        """Read no more of these topics of a share until `release`; nothing is lost by it."""
        ...

    def release(self, share: int) -> None:
        """Read all topics of a share."""
        ...

    def lag(self, share: int) -> Mapping[Topic, int | None]:
        """Messages of each topic that are still to come, as far as is known; None: not known."""
        ...

    def commit(self, marks: Marks) -> bool:
        """Keep the marks for whoever holds the shares after this member.

        Everything that `judged` speaks of has to be accepted by the bus before. False when the
        shares belong to somebody else meanwhile. Raises BusUnavailableError.
        """
        ...

    def close(self) -> None:
        """Leave the group. Closing twice is harmless."""
        ...


@runtime_checkable
class GroupBus(Bus, Protocol):
    """A bus that can form groups."""

    def join(
        self, group: str, topics: Sequence[Topic], from_the_beginning: Collection[Topic]
    ) -> Membership:
        """Become a member. A share is read from its `needed` marks on, or from the oldest message.

        The topics in `from_the_beginning` are read whole, whatever was committed. Raises
        BusUnavailableError, or BusAddressError for topics that differ in their partitions.
        """
        ...

    def held(self, topic: Topic) -> Iterator[Message]:
        """Every message that the bus holds of a topic now. Raises BusUnavailableError."""
        ...
