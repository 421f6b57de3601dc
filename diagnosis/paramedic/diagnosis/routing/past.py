"""What all jobs were told of: the verdict topic, read for the history of machines.

Whoever starts reads what the topic holds before anything is judged, and then listens: other
members tell of jobs that this one does not judge.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from paramedic.diagnosis.routing.told import read_verdict
from paramedic.ingest.bus.group import GroupBus
from paramedic.ingest.contract import Start, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from paramedic.diagnosis.history.fleet import FleetHistory
    from paramedic.ingest.contract import Bus, Message, Subscription


class Past:
    """Feeds the history of a fleet. Raises BusUnavailableError where the bus is asked."""

    def __init__(self, fleet: FleetHistory, subscription: Subscription) -> None:
        self.fleet = fleet
        self._subscription = subscription

    def follow(self) -> None:
        """Take in what was told since."""
        self.take(self._subscription.poll(0.0))

    def take(self, messages: Iterable[Message]) -> None:
        """Take verdicts in; what cannot be read is passed over."""
        for message in messages:
            verdict = read_verdict(message)
            if verdict is not None:
                self.fleet.hear(verdict)


@contextmanager
def past_of(
    bus: Bus,
    fleet: FleetHistory,
    clock: Callable[[], float],
    *,
    poll_seconds: float,
    patience_seconds: float,
) -> Iterator[Past]:
    """Everything that the topic holds now, and what comes while the block runs.

    Where a bus cannot say what it holds it is read until nothing comes for `poll_seconds`, and for
    `patience_seconds` at most.
    """
    can_say = isinstance(bus, GroupBus)
    subscription = bus.subscribe((Topic.VERDICTS,), Start.LATEST if can_say else Start.EARLIEST)
    past = Past(fleet, subscription)
    try:
        if isinstance(bus, GroupBus):
            past.take(bus.held(Topic.VERDICTS))
        else:
            deadline = clock() + patience_seconds
            while (portion := subscription.poll(poll_seconds)) and clock() < deadline:
                past.take(portion)
            past.take(portion)
        yield past
    finally:
        subscription.close()
