"""Hands batches to the bus and keeps a few while the bus is away."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from paramedic.ingest.contract import BusUnavailableError, TelemetryBatch


class Outbox:
    """A bounded queue before `publish`. A batch leaves it when `publish` has returned."""

    def __init__(self, publish: Callable[[TelemetryBatch], None], capacity: int) -> None:
        self._publish = publish
        self._capacity = capacity
        self._waiting: deque[TelemetryBatch] = deque()
        self.published = 0
        self.dropped = 0
        """Batches that were the oldest when the queue was full."""

    def put(self, batch: TelemetryBatch) -> None:
        """Add a batch; the oldest goes when there is no room."""
        if len(self._waiting) == self._capacity:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(batch)

    def flush(self) -> bool:
        """Publish in order until all is gone, or the bus is unavailable (False: try again later).

        Whatever else `publish` raises goes through: it means that it can never work.
        """
        while self._waiting:
            try:
                self._publish(self._waiting[0])
            except BusUnavailableError:
                return False
            self._waiting.popleft()
            self.published += 1
        return True

    def __len__(self) -> int:
        return len(self._waiting)
