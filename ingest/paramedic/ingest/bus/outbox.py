"""Puts messages on the bus from a thread of its own, so that a slow or dead bus blocks nobody."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from paramedic.ingest.bus.losses import KnowsLosses
from paramedic.ingest.contract import BusUnavailableError, ContractError, Publisher, Topic

_LOG = logging.getLogger(__name__)
_RETRY_SECONDS = 0.5
_SETTLE_SECONDS = 5.0
"""After so long without an acknowledgement the bus is in trouble."""
_LAST_SECONDS = 1.0
"""The same at the end."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A message on its way to the bus."""

    topic: Topic
    key: str
    payload: bytes
    offered_at: float
    """Seconds of the outbox's clock."""


class Outbox:
    """A bounded queue in front of a publisher. `offer` never waits.

    When the queue is full, or holds more than `keep_seconds`, the oldest letter is dropped and
    counted: the newest says more.
    """

    def __init__(
        self,
        connect: Callable[[], Publisher],
        capacity: int,
        wait: Callable[[float], bool] | None = None,
        keep_seconds: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`wait(seconds)` is True when trying again has no point any more."""
        self._connect = connect
        self._capacity = capacity
        self._keep_seconds = keep_seconds
        self._clock = clock
        self._letters: deque[Letter] = deque()
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._wait = wait if wait is not None else self._closing.wait
        self._thread = threading.Thread(target=self._send_all, name="outbox", daemon=True)
        self._publisher: Publisher | None = None
        self._is_unsettled = False
        """Whether the bus may not have taken yet what was handed over."""
        self.dropped = 0
        self.sent = 0
        self.trouble: str | None = None
        """Why the bus does not take letters now; None while it does."""

    def __len__(self) -> int:
        return len(self._letters)

    @property
    def lost(self) -> int:
        """Letters that the publisher took over and the bus refused."""
        return self._publisher.lost_messages if isinstance(self._publisher, KnowsLosses) else 0

    @property
    def forgotten(self) -> int:
        """Letters that the bus took and has no more, at most."""
        return self._publisher.forgotten_messages if isinstance(self._publisher, KnowsLosses) else 0

    @property
    def bus_resets(self) -> int:
        """How often the bus was found without what it had taken."""
        return self._publisher.bus_resets if isinstance(self._publisher, KnowsLosses) else 0

    def offer(self, topic: Topic, key: str, payload: bytes) -> None:
        """Take a message over; safe from any thread."""
        with self._changed:
            now = self._clock()
            oldest = now - self._keep_seconds
            while self._letters and (
                len(self._letters) >= self._capacity or self._letters[0].offered_at < oldest
            ):
                self._letters.popleft()
                self.dropped += 1
            self._letters.append(Letter(topic, key, payload, now))
            self._changed.notify()

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def close(self, timeout_seconds: float) -> bool:
        """Send what is left, for at most this long; whether everything went out."""
        with self._changed:
            self._closing.set()
            self._changed.notify()
        self._thread.join(timeout_seconds)
        return not self._letters and not self._thread.is_alive()

    def _send_all(self) -> None:
        while True:
            letter = self._next()
            if letter is not None:
                if not self._send(letter):
                    self._letters.appendleft(letter)
                    break
            elif not (self._is_unsettled and self._settle()):
                break
        if self._publisher is not None:
            self._publisher.close()

    def _next(self) -> Letter | None:
        """The oldest letter, waiting for one; None when closed, or when there is time to settle."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._letters or self._is_unsettled or self._closing.is_set()
            )
            return self._letters.popleft() if self._letters else None

    def _settle(self) -> bool:
        """See whether the bus has taken what was handed over, as nothing else waits.

        A publisher may find out only now that it has to send again. False when there is no point
        in it any more.
        """
        if self._publisher is None:
            return False
        try:
            self._publisher.flush(_LAST_SECONDS if self._closing.is_set() else _SETTLE_SECONDS)
        except BusUnavailableError as error:
            self.trouble = str(error)
            return not (self._wait(_RETRY_SECONDS) or self._closing.is_set())
        self.trouble = None
        self._is_unsettled = False
        return True

    def _send(self, letter: Letter) -> bool:
        """Try until the bus takes the letter; False when there is no point any more."""
        while True:
            try:
                if self._publisher is None:
                    self._publisher = self._connect()
                self._publisher.publish(letter.topic, letter.key, letter.payload)
            except BusUnavailableError as error:
                self.trouble = str(error)
                if self._wait(_RETRY_SECONDS):
                    return False
            except ContractError as error:
                _LOG.warning("dropped a message of %s: %s", letter.topic.value, error)
                self.dropped += 1
                return True
            else:
                self._is_unsettled = True
                self.sent += 1
                return True
