"""The logs of all topics, shared by the threads of one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence

from paramedic.ingest.bus.limits import encoded_key
from paramedic.ingest.bus.retention import Reading, RetainedLog, Retention
from paramedic.ingest.contract import Start, Topic

Clock = Callable[[], float]
"""Seconds on a steady clock, such as `time.monotonic`."""


class MessageStore:
    """Appends and reads under one lock that is only ever held for moments."""

    def __init__(self, retention: Retention, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._logs = {topic: RetainedLog(topic, retention) for topic in Topic}
        self._arrival = threading.Condition()
        self._listeners: list[Callable[[], None]] = []

    def on_arrival(self, listener: Callable[[], None]) -> None:
        """Call the listener after every append, from the appending thread; it must not block."""
        self._listeners.append(listener)

    def append(self, topic: Topic, key: str, payload: bytes) -> int:
        """Keep a message and answer its offset. Raises ContractError when it is too large."""
        encoded_key(topic, key, payload)
        with self._arrival:
            offset = self._logs[topic].append(key, payload, self._clock())
            self._arrival.notify_all()
        for listener in self._listeners:
            listener()
        return offset

    def positions(self, topics: Sequence[Topic], start: Start) -> dict[Topic, int]:
        """The offsets at which a new reader of these topics begins."""
        with self._arrival:
            if start is Start.EARLIEST:
                return {topic: self._logs[topic].first_offset for topic in topics}
            return {topic: self._logs[topic].next_offset for topic in topics}

    def holds_news(self, positions: Mapping[Topic, int]) -> bool:
        """Whether some topic holds a message at or after its position."""
        with self._arrival:
            return self._holds_news(positions)

    def read(self, positions: Mapping[Topic, int], limit_bytes: int) -> dict[Topic, Reading]:
        """What every topic holds from its position on, at most so many bytes of each."""
        with self._arrival:
            return self._read(positions, limit_bytes)

    def wait(
        self, positions: Mapping[Topic, int], limit_bytes: int, timeout_seconds: float
    ) -> dict[Topic, Reading]:
        """Like `read`, but waits up to the time-out until some topic holds something."""
        with self._arrival:
            self._arrival.wait_for(lambda: self._holds_news(positions), timeout_seconds)
            return self._read(positions, limit_bytes)

    def expire(self) -> None:
        """Let go of what has become too old, in every topic."""
        with self._arrival:
            now = self._clock()
            for log in self._logs.values():
                log.expire(now)

    def _holds_news(self, positions: Mapping[Topic, int]) -> bool:
        return any(self._logs[topic].next_offset > offset for topic, offset in positions.items())

    def _read(self, positions: Mapping[Topic, int], limit_bytes: int) -> dict[Topic, Reading]:
        return {
            topic: self._logs[topic].read(offset, limit_bytes)
            for topic, offset in positions.items()
        }
