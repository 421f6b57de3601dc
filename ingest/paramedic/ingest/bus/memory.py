"""The bus inside one process: the fake of the port, and the supervisor's own way onto the bus."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

from paramedic.ingest.bus.failing import FailsOnRequest
from paramedic.ingest.bus.retention import Retention
from paramedic.ingest.bus.store import MessageStore
from paramedic.ingest.contract import BusUnavailableError, Message, Start, Topic

_LOG = logging.getLogger(__name__)
_READ_LIMIT_BYTES = 4 * 1024 * 1024
_EVERYTHING = Retention(limit_bytes=sys.maxsize, limit_seconds=float("inf"))


class MemoryBus(FailsOnRequest):
    """A bus over a message store; without one it keeps everything that is published.

    >>> bus = MemoryBus()
    >>> subscription = bus.subscribe([Topic.EVENTS], Start.LATEST)
    >>> bus.publisher().publish(Topic.EVENTS, "job", b"{}")
    >>> [message.payload for message in subscription.poll(0)]
    [b'{}']
    """

    def __init__(self, store: MessageStore | None = None) -> None:
        self._store = store or MessageStore(_EVERYTHING)

    def publisher(self) -> MemoryPublisher:
        """A new publisher."""
        self.require_available()
        return MemoryPublisher(self, self._store)

    def subscribe(self, topics: Sequence[Topic], start: Start) -> MemorySubscription:
        """A new, independent subscription."""
        self.require_available()
        return MemorySubscription(self, self._store, topics, start)


class MemoryPublisher:
    """Appends to the store at once, so there is never anything to flush and it never blocks."""

    def __init__(self, bus: MemoryBus, store: MessageStore) -> None:
        self._bus = bus
        self._store = store
        self._closed = False

    def publish(self, topic: Topic, key: str, payload: bytes) -> None:
        """Append one message.

        Raises ContractError when it is too large, BusUnavailableError when closed or made to fail.
        """
        if self._closed:
            raise BusUnavailableError("this publisher is closed: make a new one")
        self._bus.require_available()
        self._store.append(topic, key, payload)

    def flush(self, timeout_seconds: float) -> None:  # noqa: ARG002 (the port's signature)
        """Everything is accepted already. Raises BusUnavailableError when made to fail."""
        self._bus.require_available()

    def close(self) -> None:
        """Take no more messages."""
        self._closed = True


class MemorySubscription:
    """Reads the store at a pace of its own."""

    def __init__(
        self, bus: MemoryBus, store: MessageStore, topics: Sequence[Topic], start: Start
    ) -> None:
        self._bus = bus
        self._store = store
        self._positions = store.positions(topics, start)
        self._closed = False
        self.missed_messages = 0

    def poll(self, timeout_seconds: float) -> Sequence[Message]:
        """Messages that have arrived. Raises BusUnavailableError when closed or made to fail."""
        if self._closed:
            raise BusUnavailableError("this subscription is closed: make a new one")
        self._bus.require_available()
        readings = self._store.wait(self._positions, _READ_LIMIT_BYTES, timeout_seconds)
        for topic, reading in readings.items():
            self._positions[topic] = reading.next_offset
            if reading.missed:
                self.missed_messages += reading.missed
                _LOG.warning("missed %d messages of %s: reading too slowly", reading.missed, topic)
        return [message for reading in readings.values() for message in reading.messages]

    def close(self) -> None:
        """Read no more."""
        self._closed = True
