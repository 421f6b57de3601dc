"""Signs of life of a service, taken where it asks for the bus and for its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from paramedic.ingest.bus.answering import bus_answers
from paramedic.ingest.contract import Bus, Message, Publisher, Start, Subscription, Topic

if TYPE_CHECKING:
    import threading

LIMIT_SECONDS = 30.0
"""Longer than any wait that a service takes on purpose."""


class Pulse:
    """When something last gave a sign of life; a new one counts as a sign."""

    def __init__(self, clock: Callable[[], float], limit_seconds: float = LIMIT_SECONDS) -> None:
        """`clock` gives seconds that never go back."""
        self._clock = clock
        self._limit_seconds = limit_seconds
        self._beaten_at = clock()

    def beat(self) -> None:
        """Give a sign."""
        self._beaten_at = self._clock()

    def silent_seconds(self) -> float:
        """Seconds since the last sign."""
        return self._clock() - self._beaten_at

    def is_alive(self) -> bool:
        """Whether the last sign is no older than the limit."""
        return self.silent_seconds() <= self._limit_seconds


class Beating(Protocol):
    """Takes signs of life."""

    def beat(self) -> None:
        """Give a sign."""
        ...


class BeatingStop:
    """A stop signal that a loop asks at every turn, which shows that it turns."""

    def __init__(self, stop: threading.Event, pulse: Beating) -> None:
        self._stop = stop
        self._pulse = pulse

    def is_set(self) -> bool:
        """True when it is time to end."""
        self._pulse.beat()
        return self._stop.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most the time-out in seconds; True when it has come."""
        return self._stop.wait(timeout)


class BeatingBus:
    """A bus whose subscriptions give a sign at every poll that the bus answers.

    Not at every message: a job that is well says nothing for hours.
    """

    def __init__(self, bus: Bus, pulse: Pulse) -> None:
        self._bus = bus
        self._pulse = pulse

    def publisher(self) -> Publisher:
        """A new publisher."""
        return self._bus.publisher()

    def subscribe(self, topics: Sequence[Topic], start: Start) -> Subscription:
        """A new subscription. Raises BusUnavailableError."""
        return _BeatingSubscription(self._bus.subscribe(topics, start), self._pulse)


class _BeatingSubscription:
    def __init__(self, subscription: Subscription, pulse: Pulse) -> None:
        self._subscription = subscription
        self._pulse = pulse

    def poll(self, timeout_seconds: float) -> Sequence[Message]:
        """Messages that have arrived. Raises BusUnavailableError."""
        messages = self._subscription.poll(timeout_seconds)
        if bus_answers(self._subscription):
            self._pulse.beat()
        return messages

    def close(self) -> None:
        """Let go of the connection."""
        self._subscription.close()
