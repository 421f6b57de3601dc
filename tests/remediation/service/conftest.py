"""A clock that is moved by hand, and messages as the bus brings them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from paramedic.diagnosis.contract import Verdict
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import Event, JobName, Start, Topic
from paramedic.remediation.configuration import RemediateConfig
from paramedic.remediation.intake import VerdictMessage
from paramedic.remediation.launchers.in_memory import InMemoryLauncher
from paramedic.remediation.service import Service
from paramedic.remediation.store.store import Store


@dataclass
class HandClock:
    """Stands still until it is told to go on."""

    now: datetime = field(default=datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def go_on(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class House:
    """Everything around one service; `service()` starts it, again after a crash."""

    store: Store
    bus: MemoryBus
    launcher: InMemoryLauncher
    clock: HandClock

    def service(self, config: RemediateConfig | None = None) -> Service:
        return Service(
            config or RemediateConfig(poll_seconds=0.001),
            self.bus.subscribe((Topic.VERDICTS, Topic.EVENTS), Start.EARLIEST),
            self.bus.publisher(),
            self.launcher,
            self.store,
            self.clock,
        )

    def say(self, *records: Verdict | Event) -> None:
        publisher = self.bus.publisher()
        for record in records:
            topic = Topic.VERDICTS if isinstance(record, Verdict) else Topic.EVENTS
            publisher.publish(topic, f"{record.job}/0", record.to_json())


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def launcher() -> InMemoryLauncher:
    return InMemoryLauncher(JobName("llama"), ranks=4, spares=2)


@pytest.fixture
def house(store: Store, launcher: InMemoryLauncher, clock: HandClock) -> House:
    return House(store, MemoryBus(), launcher, clock)


@pytest.fixture(scope="session")
def message_of() -> Callable[[Verdict], VerdictMessage]:
    return lambda verdict: VerdictMessage(verdict, verdict.to_json())
