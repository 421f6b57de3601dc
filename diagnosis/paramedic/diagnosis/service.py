"""The diagnosis process: the bus goes in, verdicts go out. One detector for each job.

Alone on a bus it starts at the oldest message that the bus holds and decides everything again;
verdict ids follow from what was decided, so whoever stores verdicts by id and status sees nothing
new. As a member of a group it starts where the marks of the group say: docs/shared-diagnosis.md.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.history.fleet import FleetHistory
from paramedic.diagnosis.onlooker import Onlookers, no_onlooker
from paramedic.diagnosis.routing.outlet import Outlet
from paramedic.diagnosis.routing.past import Past, past_of
from paramedic.diagnosis.routing.session import TOPICS, Session
from paramedic.diagnosis.routing.share_watch import RoutingConfig
from paramedic.diagnosis.routing.sole import SoleMembership
from paramedic.diagnosis.routing.told import read_told
from paramedic.ingest.bus.group import GroupBus
from paramedic.ingest.contract import BusUnavailableError, Start, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from paramedic.diagnosis.routing.report import RoutingReport
    from paramedic.ingest.bus.group import Membership
    from paramedic.ingest.contract import Bus, Event

_LOG = logging.getLogger(__name__)
_PAUSE_SECONDS = 0.5
_FLUSH_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class DiagnoseConfig:
    """Settings of the process."""

    detector: DetectorConfig = field(default_factory=DetectorConfig)
    poll_seconds: float = 0.2
    """Longest wait for messages: what an event may wait before it becomes a verdict."""
    catch_up_seconds: float = 30.0
    """Alone: longest time spent gathering the backlog before the first of it is judged."""
    group: str | None = None
    """The group whose members share the jobs; None: this process judges everything."""
    rewind_seconds: float = 180.0
    """In a group: telemetry of so many seconds is read again by whoever takes a share over."""
    commit_seconds: float = 5.0
    """In a group: how often marks are kept; so much is decided twice after a crash."""
    report_seconds: float = 5.0
    """How often the process says how it is."""
    retry_seconds: float = 5.0
    """In a group: pause before the bus is tried again."""


class StopSignal(Protocol):
    """Tells the loop to end; a `threading.Event` is one."""

    def is_set(self) -> bool:
        """Whether to end now."""
        ...


def _say_nothing(_report: RoutingReport) -> None:
    """Nobody wants to know."""


def _see_nothing() -> Iterable[Event]:
    """There is nothing to look at."""
    return ()


def run(
    config: DiagnoseConfig,
    bus: Bus,
    clock: Callable[[], float],
    stop: StopSignal,
    report: Callable[[RoutingReport], None] = _say_nothing,
    pause: Callable[[float], None] = time.sleep,
    onlookers: Onlookers = no_onlooker,
    look: Callable[[], Iterable[Event]] = _see_nothing,
) -> None:
    """Read telemetry and events, publish verdicts, until told to stop.

    `clock` (seconds, steady) bounds how long the backlog is gathered and closes slots of shards
    that have gone silent; verdicts never depend on it, nor on `onlookers`, who are shown what is
    judged. What `look` finds, asked as often as reports are given, is published as events, and
    judged when it comes back. Alone it raises BusUnavailableError when the bus is gone, and whoever
    supervises starts the process again; in a group it waits for the bus to come back. Raises
    BusAddressError for topics that a group cannot share.
    """
    diagnosis = _Diagnosis(config, bus, clock, stop, report, onlookers, look)
    if config.group is None or not isinstance(bus, GroupBus):
        diagnosis.work_alone()
        return
    while not stop.is_set():
        try:
            diagnosis.work_in_group(bus, config.group)
        except BusUnavailableError as error:
            diagnosis.past["bus_losses"] += 1
            _LOG.warning(
                "diagnosis has lost the bus and tries again in %g s: %s",
                config.retry_seconds,
                error,
            )
            _wait(config.retry_seconds, clock, stop, pause)


def _wait(
    seconds: float, clock: Callable[[], float], stop: StopSignal, pause: Callable[[float], None]
) -> None:
    """Let time pass, asking every now and then whether to stop."""
    deadline = clock() + seconds
    while not stop.is_set() and clock() < deadline:
        pause(min(_PAUSE_SECONDS, seconds))


@dataclass(frozen=True, slots=True)
class _Diagnosis:
    config: DiagnoseConfig
    bus: Bus
    clock: Callable[[], float]
    stop: StopSignal
    tell: Callable[[RoutingReport], None]
    onlookers: Onlookers
    look: Callable[[], Iterable[Event]]
    past: Counter[str] = field(default_factory=Counter)
    """What the sessions before this one have counted."""

    def work_alone(self) -> None:
        """Read everything, until told to stop. Raises BusUnavailableError."""
        try:
            with self._outlet() as outlet, self._past() as past:
                membership = SoleMembership(
                    self.bus.subscribe(TOPICS, Start.EARLIEST),
                    self.clock,
                    self.stop.is_set,
                    poll_seconds=self.config.poll_seconds,
                    catch_up_seconds=self.config.catch_up_seconds,
                )
                routing = self._routing(past)
                session = Session(routing, membership, outlet, dict, shares_work=False)
                self._turn(session, membership, past, outlet)
        except BusUnavailableError as error:
            raise BusUnavailableError(f"diagnosis has lost the bus and ends: {error}") from error

    def work_in_group(self, bus: GroupBus, group: str) -> None:
        """Read the shares of this member, until told to stop. Raises BusError."""
        with self._outlet() as outlet, self._past() as past:
            membership = bus.join(group, TOPICS, from_the_beginning=(Topic.EVENTS,))
            routing = self._routing(past)
            session = Session(routing, membership, outlet, lambda: read_told(bus), shares_work=True)
            self._turn(session, membership, past, outlet)

    def _turn(self, session: Session, membership: Membership, past: Past, outlet: Outlet) -> None:
        try:
            commit = _Rhythm(self.config.commit_seconds, self.clock())
            report = _Rhythm(self.config.report_seconds, self.clock())
            while not self.stop.is_set():
                session.turn(membership.poll(self.config.poll_seconds), self.clock())
                past.follow()
                now = self.clock()
                if commit.is_due(now):
                    session.commit()
                if report.is_due(now):
                    outlet.tell_events(self.look())
                    self._say_how_it_is(session)
            session.commit()
            self._say_how_it_is(session)
        finally:
            self.past.update(session.counts())
            membership.close()

    def _say_how_it_is(self, session: Session) -> None:
        report = session.report()
        self.tell(replace(report, counts=self.past + Counter(report.counts)))

    def _routing(self, past: Past) -> RoutingConfig:
        return RoutingConfig(
            self.config.detector,
            self.config.rewind_seconds,
            onlookers=self.onlookers,
            fleet=past.fleet,
        )

    def _past(self) -> AbstractContextManager[Past]:
        fleet = FleetHistory(self.config.detector.history)
        return past_of(
            self.bus,
            fleet,
            self.clock,
            poll_seconds=self.config.poll_seconds,
            patience_seconds=self.config.catch_up_seconds,
        )

    @contextmanager
    def _outlet(self) -> Iterator[Outlet]:
        """A publisher; at an orderly end everything is handed over. Raises BusUnavailableError."""
        outlet = Outlet(self.bus.publisher())
        try:
            yield outlet
            outlet.settle(_FLUSH_SECONDS)
        finally:
            outlet.close()


@dataclass(slots=True)
class _Rhythm:
    """Something that happens every so often."""

    seconds: float
    last: float

    def is_due(self, now: float) -> bool:
        """Whether it is time again."""
        if now - self.last < self.seconds:
            return False
        self.last = now
        return True
