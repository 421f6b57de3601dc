"""The diagnosis process: the bus goes in, verdicts go out. One detector for each job.

It starts at the oldest message that the bus holds and decides everything again; verdict ids follow
from what was decided, so whoever stores verdicts by id and status sees nothing new.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.ordering import Arrival, StreamTime, in_order
from paramedic.diagnosis.reading import read
from paramedic.ingest.contract import (
    BusUnavailableError,
    ContractError,
    DeadLetter,
    Event,
    JobName,
    Message,
    Start,
    TelemetryBatch,
    Topic,
)
from paramedic.ingest.windows.errors import ForeignBatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from paramedic.diagnosis.contract import Detector, Verdict
    from paramedic.ingest.contract import Bus, Publisher, Subscription

_LOG = logging.getLogger(__name__)
_FLUSH_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class DiagnoseConfig:
    """Settings of the process."""

    detector: DetectorConfig = field(default_factory=DetectorConfig)
    poll_seconds: float = 0.2
    """Longest wait for messages: what an event may wait before it becomes a verdict."""
    catch_up_seconds: float = 30.0
    """Longest time spent gathering the backlog before the first of it is judged."""


class StopSignal(Protocol):
    """Tells the loop to end; a `threading.Event` is one."""

    def is_set(self) -> bool:
        """Whether to end now."""
        ...


def run(config: DiagnoseConfig, bus: Bus, clock: Callable[[], float], stop: StopSignal) -> None:
    """Read telemetry and events, publish verdicts, until told to stop.

    `clock` (seconds) only bounds how long the backlog is gathered; verdicts never depend on it.
    Raises BusUnavailableError when the bus is gone: whoever supervises starts the process again.
    """
    try:
        diagnosis = Diagnosis(config, bus.publisher())
        subscription = bus.subscribe((Topic.EVENTS, Topic.TELEMETRY), Start.EARLIEST)
        try:
            diagnosis.take(_backlog(config, subscription, clock, stop))
            while not stop.is_set():
                diagnosis.take(subscription.poll(config.poll_seconds))
        finally:
            subscription.close()
        diagnosis.close()
    except BusUnavailableError as error:
        raise BusUnavailableError(f"diagnosis has lost the bus and ends: {error}") from error


def _backlog(
    config: DiagnoseConfig,
    subscription: Subscription,
    clock: Callable[[], float],
    stop: StopSignal,
) -> list[Message]:
    """What the bus already holds, whole, because topics have no common order in portions."""
    gathered: list[Message] = []
    deadline = clock() + config.catch_up_seconds
    while not stop.is_set() and clock() < deadline:
        portion = subscription.poll(config.poll_seconds)
        if not portion:
            break
        gathered.extend(portion)
    return gathered


class Diagnosis:
    """Routes messages to the detectors of their jobs and publishes what these decide."""

    def __init__(self, config: DiagnoseConfig, publisher: Publisher) -> None:
        self._config = config
        self._publisher = publisher
        self._detectors: dict[JobName, Detector] = {}
        self._times: dict[JobName, StreamTime] = {}

    def take(self, messages: Sequence[Message]) -> None:
        """Judge some messages, in the order in which they happened.

        Raises BusUnavailableError when a verdict cannot be published.
        """
        arrivals = [arrival for message in messages if (arrival := self._read(message))]
        for arrival in in_order(arrivals):
            self._judge(arrival)

    def close(self) -> None:
        """Hand over what is on its way. Raises BusUnavailableError when that takes too long."""
        self._publisher.flush(_FLUSH_SECONDS)
        self._publisher.close()

    def _read(self, message: Message) -> Arrival | None:
        try:
            return read(message)
        except ContractError as error:
            self._bury(message, str(error))
            return None

    def _judge(self, arrival: Arrival) -> None:
        fact = arrival.fact
        detector = self._detectors.get(fact.job)
        if detector is None:
            detector = self._detectors[fact.job] = self._config.detector.build(fact.job)
        if isinstance(fact, Event):
            self._publish(detector.record(fact))
            return
        try:
            self._publish(detector.accept(fact, self._stream_time(fact)))
        except ForeignBatchError as error:
            self._bury(arrival.message, str(error))

    def _stream_time(self, batch: TelemetryBatch) -> float:
        return self._times.setdefault(batch.job, StreamTime()).see(batch)

    def _publish(self, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            self._publisher.publish(Topic.VERDICTS, verdict.job, verdict.to_json())
            _LOG.info(
                "%s %s %s %s: %s",
                verdict.status.value,
                verdict.severity.value,
                verdict.fault.value,
                verdict.id,
                verdict.summary,
            )

    def _bury(self, message: Message, reason: str) -> None:
        """Put what cannot be used on the dead-letter topic, with the reason, and go on."""
        _LOG.warning("%s, offset %d: %s", message.topic.value, message.offset, reason)
        letter = DeadLetter.of(message, reason)
        self._publisher.publish(Topic.DEAD_LETTER, message.key, letter.to_json())
