"""`remediate`: reads verdicts and events from the bus, stores them, and acts."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from paramedic.ingest.contract import BusUnavailableError, DeadLetter, Event, Message, Start, Topic
from paramedic.remediation.bookkeeping import Bookkeeping
from paramedic.remediation.casework import Casework
from paramedic.remediation.contract import StoreDataError, StoreUnavailableError
from paramedic.remediation.controller import Controller
from paramedic.remediation.following import StepFollower
from paramedic.remediation.herald import Herald
from paramedic.remediation.intake import UnreadableMessageError, VerdictMessage, read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from paramedic.ingest.contract import Bus, JobName, Publisher, Subscription
    from paramedic.remediation.configuration import RemediateConfig
    from paramedic.remediation.launchers.port import Launcher
    from paramedic.remediation.store.store import Store

_log = logging.getLogger(__name__)

_TOPICS = (Topic.VERDICTS, Topic.EVENTS)
_MOST_POLLS_AT_ONCE = 100


class StopSignal(Protocol):
    """Says when to end; `threading.Event` is one."""

    def is_set(self) -> bool:
        """True when it is time to end."""
        ...

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most the time-out in seconds; True when it has come."""
        ...


def run(
    config: RemediateConfig,
    bus: Bus,
    launcher: Launcher,
    store: Store,
    clock: Callable[[], datetime],
    stop: StopSignal,
) -> None:
    """Serve until `stop` is set. `clock` gives aware datetimes in UTC.

    Everything the bus still holds is read again at the start: what was stored before changes
    nothing. Neither a bus, a launcher nor a database that fails for a while ends the service.
    """
    subscription = bus.subscribe(_TOPICS, Start.EARLIEST)
    publisher = bus.publisher()
    service = Service(config, subscription, publisher, launcher, store, clock)
    try:
        while not stop.is_set():
            if not service.turn():
                stop.wait(config.store_retry_seconds)
    finally:
        subscription.close()
        publisher.close()


@dataclass(slots=True)
class Service:
    """One subscription's worth of work, a turn at a time."""

    config: RemediateConfig
    subscription: Subscription
    publisher: Publisher
    launcher: Launcher
    store: Store
    clock: Callable[[], datetime]
    _waiting: deque[Message] = field(default_factory=deque)
    """Messages that were read from the bus and are not stored yet."""
    _touched: set[JobName] = field(default_factory=set)
    """Jobs whose ledger may have changed."""
    _reviewed_at: datetime | None = None
    _herald: Herald = field(default_factory=Herald)
    _failing: set[str] = field(default_factory=set)
    """Work that did not succeed last time; said once, not at every turn."""

    def turn(self) -> bool:
        """Read, store, decide and act once. False when something is down: wait before the next."""
        # Each on its own: a bus that is away must not keep us from acting on what is known.
        worked = [
            self._attempt("reading", self._read_everything),
            self._attempt("acting", self._controller().advance),
            self._attempt("reviewing", self._review),
            self._attempt("telling of maintenance", self._tell_of_maintenance),
        ]
        return all(worked)

    def _attempt(self, name: str, work: Callable[[], None]) -> bool:
        try:
            work()
        except (StoreUnavailableError, BusUnavailableError) as error:
            if name not in self._failing:
                _log.warning("%s waits: %s", name, error)
            self._failing.add(name)
            return False
        if name in self._failing:
            _log.info("%s goes on", name)
        self._failing.discard(name)
        return True

    def _read_everything(self) -> None:
        # Acting waits until nothing more has arrived: a newer message may say that it is over.
        self._store_waiting()
        timeout_seconds = self.config.poll_seconds
        for _ in range(_MOST_POLLS_AT_ONCE):
            messages: Sequence[Message] = self.subscription.poll(timeout_seconds)
            self._waiting.extend(messages)
            self._store_waiting()
            if not messages:
                return
            timeout_seconds = 0.0

    def _store_waiting(self) -> None:
        while self._waiting:
            self._take(self._waiting[0])
            self._waiting.popleft()

    def _take(self, message: Message) -> None:
        try:
            record = read(message)
            if isinstance(record, VerdictMessage):
                self._casework().take(record)
                self._touched.add(record.verdict.job)
            elif isinstance(record, Event) and Bookkeeping(self.store).take(record):
                self._touched.add(record.job)
        except (UnreadableMessageError, StoreDataError) as error:
            self._bury(message, error)

    def _bury(self, message: Message, error: Exception) -> None:
        _log.warning("message dropped: %s", error)
        letter = DeadLetter.of(message, error)
        self.publisher.publish(Topic.DEAD_LETTER, message.key, letter.to_json())

    def _review(self) -> None:
        now = self.clock()
        is_due = self._reviewed_at is None or now - self._reviewed_at >= timedelta(
            seconds=self.config.review_seconds
        )
        if not (is_due or self._touched):
            return
        if is_due:
            self._casework().review()
            StepFollower(self.store, self.launcher).follow(now)
            self._reviewed_at = now
        Bookkeeping(self.store).bring_up_to(now, also=frozenset(self._touched))
        self._touched.clear()

    def _tell_of_maintenance(self) -> None:
        self._herald.tell(self.store, self.publisher, self.clock())

    def _casework(self) -> Casework:
        return Casework(self.store, self.launcher, self.config, self.clock)

    def _controller(self) -> Controller:
        return Controller(self.store, self.launcher, self.config.controller, self.clock)
