"""Membership of the only member there is: over a bus that knows no groups, as one share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.ingest.bus.answering import bus_answers
from paramedic.ingest.bus.group import Claim, Delivery
from paramedic.ingest.contract import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from paramedic.ingest.bus.group import Marks
    from paramedic.ingest.contract import Message, Subscription

ONLY_SHARE = 0


class SoleMembership:
    """Reads a subscription. What the bus already holds comes first and whole, events before all.

    Topics have no common order in portions, so the backlog is gathered until nothing comes for
    `poll_seconds`, or for `catch_up_seconds` at most. Nothing is kept by `commit`: the next member
    reads everything again.
    """

    def __init__(
        self,
        subscription: Subscription,
        clock: Callable[[], float],
        is_over: Callable[[], bool],
        *,
        poll_seconds: float,
        catch_up_seconds: float,
    ) -> None:
        self._subscription = subscription
        self._clock = clock
        self._is_over = is_over
        self._poll_seconds = poll_seconds
        self._catch_up_seconds = catch_up_seconds
        self._has_begun = False

    def poll(self, timeout_seconds: float) -> Delivery:
        """What has arrived. Raises BusUnavailableError."""
        if self._has_begun:
            return self._delivery(self._subscription.poll(timeout_seconds))
        self._has_begun = True
        backlog = sorted(self._gather(), key=lambda message: message.topic is not Topic.EVENTS)
        return replace(self._delivery(backlog), gained=(Claim(ONLY_SHARE, {}),))

    def hold(self, share: int, topics: Collection[Topic]) -> None:
        """Nothing: the backlog is in order."""

    def release(self, share: int) -> None:
        """Nothing is held."""

    def lag(self, share: int) -> Mapping[Topic, int | None]:  # noqa: ARG002 (the port's signature)
        """Nothing is to come that is known of."""
        return {}

    def commit(self, marks: Marks) -> bool:  # noqa: ARG002 (the port's signature)
        """Nothing is kept."""
        return True

    def close(self) -> None:
        """Let go of the connection."""
        self._subscription.close()

    def _gather(self) -> list[Message]:
        gathered: list[Message] = []
        deadline = self._clock() + self._catch_up_seconds
        while not self._is_over() and self._clock() < deadline:
            portion = self._subscription.poll(self._poll_seconds)
            if not portion:
                break
            gathered.extend(portion)
        return gathered

    def _delivery(self, messages: Collection[Message]) -> Delivery:
        by_share = {ONLY_SHARE: tuple(messages)} if messages else {}
        return Delivery(messages=by_share, bus_answers=bus_answers(self._subscription))
