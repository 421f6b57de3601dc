"""Publishing to the embedded broker: what it has not acknowledged is sent again after a break."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from paramedic.ingest.bus.embedded.frames import Acknowledged, FrameError, Publish, write
from paramedic.ingest.bus.embedded.link import Link, Timing, open_patiently, unavailable
from paramedic.ingest.contract import BusUnavailableError, Topic

_LOG = logging.getLogger(__name__)
_UNACKNOWLEDGED_LIMIT_BYTES = 32 * 1024 * 1024
_CLOSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Pending:
    number: int
    data: bytes


class EmbeddedPublisher:
    """Sends at once and collects acknowledgements on the way. Safe to use from several threads.

    After a break a message may arrive twice, never zero times: its acknowledgement was lost.
    """

    def __init__(self, path: Path, timing: Timing) -> None:
        self._path = path
        self._timing = timing
        self._lock = threading.Lock()
        self._link: Link | None = open_patiently(path, timing, timing.patience.connect_seconds)
        self._pending: deque[_Pending] = deque()
        self._pending_bytes = 0
        self._sent = 0
        """How many of the pending went out on the present link."""
        self._numbers = 0
        self._closed = False

    def publish(self, topic: Topic, key: str, payload: bytes) -> None:
        """Hand one message to the broker.

        Raises ContractError when it is too large, BusUnavailableError when closed or when the
        broker stays away longer than `connect_seconds`; then the message was not taken.
        """
        with self._lock:
            self._require_open()
            self._append(topic, key, payload)
            deadline = self._timing.clock() + self._timing.patience.connect_seconds
            try:
                self._send_pending(deadline)
            except BusUnavailableError:
                self._pending_bytes -= len(self._pending.pop().data)
                raise
            self._collect(0.0)
            if self._pending_bytes > _UNACKNOWLEDGED_LIMIT_BYTES:
                self._settle(deadline)

    def flush(self, timeout_seconds: float) -> None:
        """Wait until the broker has everything. Raises BusUnavailableError after the time-out."""
        with self._lock:
            self._settle(self._timing.clock() + timeout_seconds)

    def close(self) -> None:
        """Flush for a second, tell in the log what was lost, and disconnect."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                self._settle(self._timing.clock() + _CLOSE_SECONDS)
            except BusUnavailableError as error:
                _LOG.warning("%d messages were not published: %s", len(self._pending), error)
            self._disconnect()

    def _require_open(self) -> None:
        if self._closed:
            raise BusUnavailableError("this publisher is closed: make a new one")

    def _append(self, topic: Topic, key: str, payload: bytes) -> None:
        data = write(Publish(self._numbers + 1, topic, key, payload))
        self._numbers += 1
        self._pending.append(_Pending(self._numbers, data))
        self._pending_bytes += len(data)

    def _settle(self, deadline: float) -> None:
        started = self._timing.clock()
        while self._pending:
            self._send_pending(deadline)
            remaining = deadline - self._timing.clock()
            self._collect(max(remaining, 0.0))
            if self._pending and remaining <= 0:
                raise unavailable(
                    self._path,
                    deadline - started,
                    f"{len(self._pending)} messages are not acknowledged",
                )

    def _send_pending(self, deadline: float) -> None:
        while self._link is None or self._sent < len(self._pending):
            remaining = deadline - self._timing.clock()
            if self._link is None:
                self._link = open_patiently(self._path, self._timing, remaining)
            if self._sent < len(self._pending):
                self._send_next(self._link, remaining)

    def _send_next(self, link: Link, timeout_seconds: float) -> None:
        try:
            link.send(self._pending[self._sent].data, timeout_seconds)
        except OSError as error:
            _LOG.info("the broker at %s went away: %s", self._path, error)
            self._disconnect()
        else:
            self._sent += 1

    def _collect(self, timeout_seconds: float) -> None:
        """Take in acknowledgements; a broken link shows at the next send."""
        if self._link is None:
            return
        try:
            frames = self._link.receive(timeout_seconds)
        except (OSError, FrameError) as error:
            _LOG.info("the broker at %s went away: %s", self._path, error)
            self._disconnect()
            return
        for frame in frames:
            if isinstance(frame, Acknowledged):
                self._settled_up_to(frame.number)

    def _settled_up_to(self, number: int) -> None:
        while self._sent and self._pending[0].number <= number:
            self._pending_bytes -= len(self._pending.popleft().data)
            self._sent -= 1

    def _disconnect(self) -> None:
        self._sent = 0
        if self._link is not None:
            with contextlib.suppress(OSError):
                self._link.close()
            self._link = None
