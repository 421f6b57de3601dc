"""Whether a subscription knows that its bus is away: a poll that brings nothing does not say so."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from paramedic.ingest.contract import Subscription


@runtime_checkable
class KnowsItsBus(Protocol):
    """A subscription whose polls come back empty for a while when its bus is away."""

    @property
    def bus_answers(self) -> bool:
        """False while the bus is known to be away."""
        ...


def bus_answers(subscription: Subscription) -> bool:
    """Whether the bus answers, as far as the subscription knows; one that cannot know says yes."""
    return not isinstance(subscription, KnowsItsBus) or subscription.bus_answers
