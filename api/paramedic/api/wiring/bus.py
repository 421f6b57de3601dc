"""The bus of a run: embedded, a development broker, or a broker that is there already."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.kafka import bus_at
from paramedic.ingest.bus.address import open_bus
from paramedic.ingest.bus.outbox import Outbox
from paramedic.ingest.contract import Bus, Start, Subscription, Topic

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings

_EVENTS_KEPT = 10_000
_TELEMETRY_KEPT = 600
_CLOSE_SECONDS = 2.0
EMBEDDED = "embedded"
DEVELOPMENT_BROKER = "kafka"


@dataclass(frozen=True, slots=True)
class RunBus:
    """What a run needs of its bus."""

    address: str
    """What `open_bus` takes, for other processes."""
    publish: Callable[[Topic, str, bytes], None]
    """Never waits, whatever becomes of the bus."""
    subscribe: Callable[[Sequence[Topic]], Subscription]
    """From the oldest message on. Raises BusUnavailableError."""


def check_bus(settings: Settings, environment: Mapping[str, str]) -> None:
    """Find out before a start whether the bus can be had.

    Raises PreflightError for a bus that cannot be used, BusError for a broker that does not answer
    in time or is not installed.
    """
    address = settings.bus.address
    if address == EMBEDDED:
        return
    if address.startswith("unix:"):
        raise PreflightError(
            f"bus {address} belongs to another run: use embedded, kafka or kafka://HOST:PORT"
        )
    if address == DEVELOPMENT_BROKER:
        from paramedic.ingest.bus.development_broker import broker_program

        broker_program()
        return
    _require_broker(bus_at(address, settings, environment))


def _require_broker(bus: Bus) -> None:
    from paramedic.ingest.bus.kafka import KafkaBus
    from paramedic.ingest.bus.kafka_reach import require_broker

    if isinstance(bus, KafkaBus):
        require_broker(bus.settings, time.monotonic, time.sleep)


def run_bus(
    settings: Settings, environment: Mapping[str, str], sockets: Path, logs: Path
) -> AbstractContextManager[RunBus]:
    """The bus for the length of a run. Raises BusError when it cannot be had."""
    address = settings.bus.address
    if address == EMBEDDED:
        return _embedded(sockets / "bus.sock")
    if address == DEVELOPMENT_BROKER:
        return _with_development_broker(logs / "broker.log")
    return _remote(address, bus_at(address, settings, environment))


@contextmanager
def _embedded(path: Path) -> Iterator[RunBus]:
    from paramedic.ingest.bus.embedded.broker import EmbeddedBroker

    with EmbeddedBroker(path) as broker:
        bus = broker.bus()
        yield RunBus(
            f"unix:{path}",
            broker.publish_local,
            lambda topics: bus.subscribe(topics, Start.EARLIEST),
        )


@contextmanager
def _with_development_broker(log_file: Path) -> Iterator[RunBus]:
    from paramedic.ingest.bus.development_broker import development_broker

    with (
        development_broker(log_file) as broker,
        _remote(broker.address, open_bus(broker.address)) as bus,
    ):
        yield bus


@contextmanager
def _remote(address: str, bus: Bus) -> Iterator[RunBus]:
    """Telemetry and the rest have an outbox each: a flood of one does not drop the other."""
    telemetry = Outbox(bus.publisher, _TELEMETRY_KEPT)
    facts = Outbox(bus.publisher, _EVENTS_KEPT)

    def publish(topic: Topic, key: str, payload: bytes) -> None:
        box = telemetry if topic is Topic.TELEMETRY else facts
        box.offer(topic, key, payload)

    telemetry.start()
    facts.start()
    try:
        yield RunBus(address, publish, lambda topics: bus.subscribe(topics, Start.EARLIEST))
    finally:
        facts.close(_CLOSE_SECONDS)
        telemetry.close(_CLOSE_SECONDS)
