"""Tells on standard error what happens to a running job: states, verdicts, recoveries."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from paramedic.api.wiring.telling import say
from paramedic.diagnosis.contract import Verdict, VerdictFormatError
from paramedic.ingest.contract import (
    BusUnavailableError,
    ContractError,
    Event,
    Message,
    Subscription,
    Topic,
)

_POLL_SECONDS = 0.2
_RETRY_SECONDS = 2.0
_TOPICS = (Topic.EVENTS, Topic.VERDICTS)


class Narrator:
    """Reads the bus in a thread of its own, so that the supervisor's loop never waits for it."""

    def __init__(
        self,
        hear: Callable[[Event | Verdict], Iterable[str]],
        subscribe: Callable[[Sequence[Topic]], Subscription],
        out: TextIO,
        poll_seconds: float = _POLL_SECONDS,
        retry_seconds: float = _RETRY_SECONDS,
        consolation: str = "training goes on",
        rest: Callable[[bool], Iterable[str]] = lambda _is_over: (),
    ) -> None:
        """`hear` gives the lines that an event or verdict is worth, in the order of the bus;
        `consolation` is said of the job while the bus is away. `rest` is asked now and then, and at
        the end with True, for lines that were held back."""
        self._hear = hear
        self._subscribe = subscribe
        self._out = out
        self._poll_seconds = poll_seconds
        self._retry_seconds = retry_seconds
        self._consolation = consolation
        self._rest = rest
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tell_all, name="narrator", daemon=True)
        self._told: set[tuple[int, int, Topic]] = set()

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def close(self, timeout_seconds: float) -> None:
        """Tell what has arrived by now and end."""
        self._over.set()
        self._thread.join(timeout_seconds)

    def _tell_all(self) -> None:
        is_lost = False
        while True:
            try:
                self._tell_until_lost()
            except BusUnavailableError:
                if not is_lost:
                    self._say(f"the bus does not answer; {self._consolation}")
                is_lost = True
            if self._over.wait(self._retry_seconds if is_lost else 0.0):
                return

    def _tell_until_lost(self) -> None:
        subscription = self._subscribe(_TOPICS)
        try:
            while True:
                was_over = self._over.is_set()
                messages = subscription.poll(0.0 if was_over else self._poll_seconds)
                self.tell(messages)
                is_last = was_over and not messages
                for line in self._rest(is_last):
                    self._say(line)
                if is_last:
                    return
        finally:
            subscription.close()

    def tell(self, messages: Sequence[Message]) -> None:
        """A line for each message that means something, once."""
        for message in messages:
            place = (message.partition, message.offset, message.topic)
            if place in self._told:
                continue
            self._told.add(place)
            self._tell(message)

    def _tell(self, message: Message) -> None:
        try:
            said = (
                Verdict.from_json(message.payload)
                if message.topic is Topic.VERDICTS
                else Event.from_json(message.payload)
            )
        except (ContractError, VerdictFormatError):
            self._say(f"a message on {message.topic.value} cannot be read")
            return
        for line in self._hear(said):
            self._say(line)

    def _say(self, text: str) -> None:
        say(self._out, text)
