"""One stretch of work between a connection to the bus and its loss, or the end."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

from paramedic.diagnosis.routing.polled_time import PolledTime
from paramedic.diagnosis.routing.report import RoutingReport
from paramedic.diagnosis.routing.share_watch import RoutingConfig, ShareWatch
from paramedic.ingest.contract import JobName, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paramedic.diagnosis.routing.outlet import Outlet
    from paramedic.diagnosis.routing.told import Told
    from paramedic.ingest.bus.group import Claim, Delivery, Mark, Membership

_LOG = logging.getLogger(__name__)
TOPICS = (Topic.EVENTS, Topic.TELEMETRY, Topic.SLOTS)
AFTER_EVENTS = (Topic.TELEMETRY, Topic.SLOTS)
_FLUSH_SECONDS = 30.0


class Session:
    """The shares that this process holds, and their messages.

    Every method raises BusUnavailableError: then nothing is lost but the session, and whoever holds
    the shares next goes on from the marks.
    """

    def __init__(
        self,
        config: RoutingConfig,
        membership: Membership,
        outlet: Outlet,
        told: Callable[[], Mapping[JobName, Told]],
        *,
        shares_work: bool,
    ) -> None:
        """`told` reads what was told before; `shares_work` says that other members may be."""
        self._config = config
        self._membership = membership
        self._outlet = outlet
        self._told = told
        self._shares_work = shares_work
        self._shares: dict[int, ShareWatch] = {}
        self._counts: Counter[str] = Counter()
        self._time = PolledTime()

    def turn(self, delivery: Delivery, now: float) -> None:
        """Take what a poll has brought; `now` is any steady clock, in seconds."""
        polled = self._time.turn(now, bus_answers=delivery.bus_answers)
        for share in delivery.lost:
            self._lose(share)
        if delivery.lost:
            _LOG.info("the shares %s belong to others now", list(delivery.lost))
        self._gain(delivery.gained)
        for share, messages in delivery.messages.items():
            self._shares[share].take(messages, polled)
        for number, watch in self._shares.items():
            if watch.is_catching_up:
                self._follow_up(number, watch, polled)
            watch.pass_time(polled)

    def commit(self) -> None:
        """Have the bus accept what was given to it, then say how far this member has come."""
        marks: dict[tuple[int, Topic], Mark] = {
            (share, topic): mark
            for share, watch in self._shares.items()
            for topic, mark in watch.marks(self._time.seconds).items()
        }
        self._outlet.settle(_FLUSH_SECONDS)
        if marks:
            kept = self._membership.commit(marks)
            self._counts["commits" if kept else "commits_refused"] += 1

    def report(self) -> RoutingReport:
        """How this member is."""
        watches = self._shares.values()
        return RoutingReport(
            shares=len(self._shares),
            shares_catching_up=sum(watch.is_catching_up for watch in watches),
            jobs=sum(watch.jobs for watch in watches),
            lag_messages=self._lag(),
            counts=self.counts(),
        )

    def counts(self) -> Counter[str]:
        """What this session has counted, shares that have moved on included."""
        counts = self._counts + self._outlet.counts
        for watch in self._shares.values():
            counts.update(watch.counts())
        return counts

    def _lose(self, share: int) -> None:
        watch = self._shares.pop(share, None)
        if watch is not None:
            self._counts.update(watch.counts())
            self._counts["shares_lost"] += 1

    def _gain(self, claims: Sequence[Claim]) -> None:
        if not claims:
            return
        told = self._told()
        for claim in claims:
            self._shares[claim.share] = ShareWatch(
                self._config, claim, told, self._outlet, sends_home=self._shares_work
            )
            self._membership.hold(claim.share, AFTER_EVENTS)
            self._counts["shares_gained"] += 1
        _LOG.info("watching the shares %s", sorted(self._shares))

    def _follow_up(self, number: int, watch: ShareWatch, now: float) -> None:
        """Events first, then the rest; caught up is who has no message left to come."""
        lag = self._membership.lag(number)
        if lag.get(Topic.EVENTS, 0) == 0:
            self._membership.release(number)
        if not any(behind != 0 for behind in lag.values()):
            watch.end_catching_up(now)

    def _lag(self) -> Mapping[str, int]:
        totals: Counter[str] = Counter()
        for share in self._shares:
            for topic, behind in self._membership.lag(share).items():
                totals[topic.value] += behind or 0
        return totals
