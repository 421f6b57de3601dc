"""What a subscription gets, waited for no longer than a test can bear."""

from __future__ import annotations

import time

from paramedic.ingest.contract import Message, Subscription

ARRIVAL_SECONDS = 20.0


def arrivals(subscription: Subscription, count: int) -> list[Message]:
    """So many messages, or those that came before the time was up."""
    messages: list[Message] = []
    deadline = time.monotonic() + ARRIVAL_SECONDS
    while len(messages) < count and time.monotonic() < deadline:
        messages.extend(subscription.poll(0.5))
    return messages
