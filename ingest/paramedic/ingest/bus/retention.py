"""One topic's messages in memory, bounded by bytes and by age, and numbered by arrival."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from paramedic.ingest.contract import Message, Topic

MESSAGE_OVERHEAD_BYTES = 200
"""What a message costs beside key and payload; it bounds a flood of empty messages too."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How much of a topic is kept for subscribers that lag behind."""

    limit_bytes: int = 64 * 1024 * 1024
    limit_seconds: float = 15 * 60.0

    def __post_init__(self) -> None:
        if self.limit_bytes <= 0 or self.limit_seconds <= 0:
            raise ValueError(f"retention must be above zero in bytes and in seconds: {self}")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a log answered to a reader."""

    messages: tuple[Message, ...]
    missed: int
    """Messages that fell out of retention before the reader came for them."""
    next_offset: int
    """Where the reader goes on."""


class RetainedLog:
    """The messages of one topic, oldest first. Not safe for several threads by itself."""

    def __init__(self, topic: Topic, retention: Retention) -> None:
        self._topic = topic
        self._retention = retention
        self._entries: deque[tuple[float, Message]] = deque()
        self._held_bytes = 0
        self._next_offset = 0

    @property
    def first_offset(self) -> int:
        """The offset of the oldest message held, or the next one if none is."""
        return self._next_offset - len(self._entries)

    @property
    def next_offset(self) -> int:
        """The offset that the next message will get."""
        return self._next_offset

    def append(self, key: str, payload: bytes, now: float) -> int:
        """Keep a message that arrived at `now` (seconds, any steady clock) and answer its offset.

        The newest message stays, however large it is.
        """
        message = Message(self._topic, key, payload, self._next_offset)
        self._entries.append((now, message))
        self._held_bytes += _cost_bytes(message)
        self._next_offset += 1
        while self._held_bytes > self._retention.limit_bytes and len(self._entries) > 1:
            self._drop_oldest()
        self.expire(now)
        return message.offset

    def expire(self, now: float) -> None:
        """Let go of what has become too old."""
        oldest_allowed = now - self._retention.limit_seconds
        while self._entries and self._entries[0][0] < oldest_allowed:
            self._drop_oldest()

    def read(self, offset: int, limit_bytes: int) -> Reading:
        """Messages from the offset on: at least one if there is any, else up to the limit."""
        start = max(offset, self.first_offset)
        messages = self._collect(start - self.first_offset, limit_bytes)
        return Reading(tuple(messages), start - offset, start + len(messages))

    def _collect(self, index: int, limit_bytes: int) -> Sequence[Message]:
        messages: list[Message] = []
        taken_bytes = 0
        while index < len(self._entries) and taken_bytes < limit_bytes:
            message = self._entries[index][1]
            messages.append(message)
            taken_bytes += _cost_bytes(message)
            index += 1
        return messages

    def _drop_oldest(self) -> None:
        _, message = self._entries.popleft()
        self._held_bytes -= _cost_bytes(message)


def _cost_bytes(message: Message) -> int:
    return len(message.payload) + len(message.key) + MESSAGE_OVERHEAD_BYTES
