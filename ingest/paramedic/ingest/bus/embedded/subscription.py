"""Subscribing to the embedded broker: goes on where it was after a break."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from paramedic.ingest.bus.embedded.frames import (
    Deliver,
    Frame,
    FrameError,
    Missed,
    Subscribe,
    Subscribed,
    write,
)
from paramedic.ingest.bus.embedded.link import Link, Timing, open_patiently, unavailable
from paramedic.ingest.contract import BusUnavailableError, Message, Start, Topic

_LOG = logging.getLogger(__name__)
_ANSWER_SECONDS = 0.5
"""Granted to a broker that took the connection, so that a short poll can reconnect as well."""


class EmbeddedSubscription:
    """Reads what the broker pushes, and remembers how far it came."""

    def __init__(self, path: Path, topics: Sequence[Topic], start: Start, timing: Timing) -> None:
        self._path = path
        self._timing = timing
        self._start = start
        self._epoch = 0
        self._positions = dict.fromkeys(topics, 0)
        self._down_since: float | None = None
        self._closed = False
        self.missed_messages = 0
        """Messages that fell out of the broker's retention before this reader came for them."""
        self._early: list[Message] = []
        self._link: Link | None = self._begin(timing.patience.connect_seconds)

    @property
    def bus_answers(self) -> bool:
        """False while the broker is known to be away: a poll that brings nothing says no more."""
        return self._link is not None

    def poll(self, timeout_seconds: float) -> Sequence[Message]:
        """Messages that have arrived, waiting at most the time-out for the first.

        Raises BusUnavailableError when closed, or when the broker has been away for longer than
        `reconnect_seconds`.
        """
        if self._closed:
            raise BusUnavailableError("this subscription is closed: make a new one")
        deadline = self._timing.clock() + timeout_seconds
        while True:
            remaining = max(deadline - self._timing.clock(), 0.0)
            messages = self._receive(remaining)
            if messages or remaining <= 0:
                return messages

    def close(self) -> None:
        """Disconnect."""
        self._closed = True
        self._disconnect()

    def _receive(self, timeout_seconds: float) -> list[Message]:
        link = self._link or self._reconnect(timeout_seconds)
        if link is None:
            return []
        if self._early:
            early, self._early = self._early, []
            return early
        try:
            return self._take(link.receive(timeout_seconds))
        except (OSError, FrameError) as error:
            self._lose(error)
            return []

    def _take(self, frames: Sequence[Frame]) -> list[Message]:
        messages = []
        for frame in frames:
            match frame:
                case Deliver(topic, offset, key, payload):
                    self._positions[topic] = offset + 1
                    messages.append(Message(topic, key, payload, offset))
                case Missed(topic, count, next_offset):
                    self._positions[topic] = next_offset
                    self.missed_messages += count
                    _LOG.warning("missed %d messages of %s: reading too slowly", count, topic)
                case Subscribed(epoch, positions):
                    self._epoch = epoch
                    self._positions.update(positions)
                case _:
                    _LOG.warning("the broker sent a subscriber %s", type(frame).__name__)
        return messages

    def _begin(self, timeout_seconds: float) -> Link:
        """Connect and wait for the broker's answer, from which on nothing is missed."""
        deadline = self._timing.clock() + timeout_seconds
        link = open_patiently(self._path, self._timing, timeout_seconds)
        try:
            self._shake_hands(link, deadline + _ANSWER_SECONDS)
        except (OSError, FrameError) as error:
            link.close()
            raise unavailable(self._path, timeout_seconds, error) from error
        return link

    def _shake_hands(self, link: Link, deadline: float) -> None:
        request = Subscribe(self._start, self._epoch, self._positions)
        link.send(write(request), deadline - self._timing.clock())
        frames: list[Frame] = []
        while not frames:
            remaining = deadline - self._timing.clock()
            if remaining <= 0:
                raise TimeoutError("the broker does not answer")
            frames = link.receive(remaining)
        self._early = self._take(frames)

    def _reconnect(self, timeout_seconds: float) -> Link | None:
        """The new link, or None when the poll's time is up and the broker may yet come back."""
        now = self._timing.clock()
        down_since = self._down_since if self._down_since is not None else now
        self._down_since = down_since
        patience_left = down_since + self._timing.patience.reconnect_seconds - now
        try:
            self._link = self._begin(min(timeout_seconds, max(patience_left, 0.0)))
        except BusUnavailableError as error:
            away = self._timing.clock() - down_since
            if away >= self._timing.patience.reconnect_seconds:
                raise unavailable(self._path, away, error.__cause__) from error
            return None
        _LOG.info("the broker at %s is back", self._path)
        self._down_since = None
        return self._link

    def _lose(self, error: Exception) -> None:
        _LOG.warning("the broker at %s went away (%s), waiting for it", self._path, error)
        self._down_since = self._timing.clock()
        self._disconnect()

    def _disconnect(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None
