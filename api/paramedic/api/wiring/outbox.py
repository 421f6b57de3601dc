"""Puts messages on the bus from a thread of its own, so that a slow or dead bus blocks nobody."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

from paramedic.ingest.contract import BusUnavailableError, Publisher, Topic

_RETRY_SECONDS = 0.5
_IDLE_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Letter:
    """A message on its way to the bus."""

    topic: Topic
    key: str
    payload: bytes


class Outbox:
    """A bounded queue in front of a publisher. `offer` never waits.

    When the queue is full the oldest letter is dropped and counted: the newest says more.
    """

    def __init__(
        self,
        connect: Callable[[], Publisher],
        capacity: int,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self._connect = connect
        self._letters: queue.Queue[Letter] = queue.Queue(capacity)
        self._closing = threading.Event()
        self._wait = wait if wait is not None else self._closing.wait
        self._thread = threading.Thread(target=self.run, name="outbox", daemon=True)
        self.dropped = 0

    def offer(self, topic: Topic, key: str, payload: bytes) -> None:
        """Take a message over; safe from any thread."""
        letter = Letter(topic, key, payload)
        while True:
            try:
                self._letters.put_nowait(letter)
            except queue.Full:
                self._drop_oldest()
            else:
                return

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def close(self, timeout_seconds: float) -> bool:
        """Send what is left, for at most this long; whether everything went out."""
        self._closing.set()
        self._thread.join(timeout_seconds)
        return self._letters.empty() and not self._thread.is_alive()

    def run(self) -> None:
        """Send letters in order until closed and empty; the thread's body."""
        publisher: Publisher | None = None
        letter: Letter | None = None
        while True:
            letter = letter if letter is not None else self._next()
            if letter is None and self._closing.is_set():
                break
            if letter is None:
                continue
            try:
                publisher = publisher if publisher is not None else self._connect()
                publisher.publish(letter.topic, letter.key, letter.payload)
            except BusUnavailableError:
                if self._wait(_RETRY_SECONDS):
                    break
            else:
                letter = None
        if publisher is not None:
            publisher.close()

    def _next(self) -> Letter | None:
        try:
            return self._letters.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            return None

    def _drop_oldest(self) -> None:
        try:
            self._letters.get_nowait()
        except queue.Empty:
            return
        self.dropped += 1
