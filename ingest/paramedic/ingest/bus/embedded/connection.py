"""One client of the broker: what it may send, and what is on its way to it. No sockets here."""

from __future__ import annotations

from collections.abc import Mapping

from paramedic.ingest.bus.embedded.frames import (
    Acknowledged,
    Deliver,
    Frame,
    FrameError,
    FrameReader,
    Missed,
    Publish,
    Subscribe,
    Subscribed,
    write,
)
from paramedic.ingest.bus.retention import Reading
from paramedic.ingest.bus.store import MessageStore
from paramedic.ingest.contract import Start, Topic

_READ_AHEAD_BYTES = 256 * 1024
"""Taken from the log for a subscriber only once the batch before has left, so that a slow one
costs one batch and nothing more."""
_UNREAD_LIMIT_BYTES = 256 * 1024
"""Acknowledgements that a publisher may leave unread before it counts as broken."""


class ClientConnection:
    """A publisher or a subscriber, as its first frame decides."""

    def __init__(self, store: MessageStore, epoch: int) -> None:
        self._store = store
        self._epoch = epoch
        self._reader = FrameReader()
        self._positions: dict[Topic, int] | None = None
        self._publishes = False
        self.outgoing = bytearray()
        self.missed_messages = 0

    def receive(self, data: bytes) -> None:
        """Act on what the client sent. Raises FrameError when the client is of no use."""
        acknowledged: int | None = None
        for frame in self._reader.feed(data):
            acknowledged = self._act(frame) or acknowledged
        if acknowledged is not None:
            self.outgoing += write(Acknowledged(acknowledged))
        if self._publishes and len(self.outgoing) > _UNREAD_LIMIT_BYTES:
            raise FrameError("the publisher does not read its acknowledgements")

    def has_more(self) -> bool:
        """Whether anything is on its way, or waits in the log for this client."""
        if self.outgoing or self._positions is None:
            return bool(self.outgoing)
        return self._store.holds_news(self._positions)

    def refill(self) -> None:
        """Put the next batch for a subscriber on its way, unless one still is."""
        if self._positions is None or self.outgoing:
            return
        for topic, reading in self._store.read(self._positions, _READ_AHEAD_BYTES).items():
            self._positions[topic] = reading.next_offset
            self._deliver(topic, reading)

    def _deliver(self, topic: Topic, reading: Reading) -> None:
        if reading.missed:
            self.missed_messages += reading.missed
            first = reading.next_offset - len(reading.messages)
            self.outgoing += write(Missed(topic, reading.missed, first))
        for message in reading.messages:
            self.outgoing += write(Deliver(topic, message.offset, message.key, message.payload))

    def _act(self, frame: Frame) -> int | None:
        match frame:
            case Publish(number, topic, key, payload) if self._positions is None:
                self._publishes = True
                self._store.append(topic, key, payload)
                return number
            case Subscribe() if self._positions is None and not self._publishes:
                self._positions = self._begin(frame)
                self.outgoing += write(Subscribed(self._epoch, self._positions))
                return None
        raise FrameError(f"{type(frame).__name__} is not expected from this client now")

    def _begin(self, frame: Subscribe) -> dict[Topic, int]:
        """A returning subscriber goes on where it was, or at the start if the broker is new."""
        topics = list(frame.positions)
        if frame.epoch == 0:
            return self._store.positions(topics, frame.start)
        if frame.epoch != self._epoch:
            return dict.fromkeys(topics, 0)
        return self._bounded(frame.positions)

    def _bounded(self, positions: Mapping[Topic, int]) -> dict[Topic, int]:
        newest = self._store.positions(list(positions), Start.LATEST)
        return {topic: min(offset, newest[topic]) for topic, offset in positions.items()}
