"""What is declared over REST keeps the diagnosis of the job from accusing anybody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import httpx
import pytest

from diagnosis.history.past_failures import StopAfter
from diagnosis.playing import merged
from diagnosis.routing.crew import Crew
from diagnosis.synthetic import JOB, START, Scene, event, exit_of, job_state, node_name
from paramedic.api.rest.application import create_app
from paramedic.api.rest.maintenance_routes import present
from paramedic.diagnosis.contract import Verdict
from paramedic.diagnosis.service import DiagnoseConfig
from paramedic.diagnosis.service import run as diagnose
from paramedic.ingest.bus.memory_group import MemoryGroupBus
from paramedic.ingest.contract import EventKind, NodeName, Topic, format_time
from paramedic.remediation.configuration import RemediateConfig
from paramedic.remediation.launchers.observing import ObservingLauncher
from paramedic.remediation.service import run as remediate
from paramedic.remediation.store.store import Store, open_store

NOW = datetime.fromtimestamp(START, UTC)


class StopSoon(StopAfter):
    """The same, for a service that also waits."""

    def wait(self, _timeout: float | None = None) -> bool:
        return self.is_set()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'paramedic.sqlite'}")
    yield opened
    opened.close()


async def declare(store: Store, node: NodeName) -> None:
    app = create_app(store, version="1", book=store)
    app.dependency_overrides[present] = lambda: NOW
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        ends = format_time(NOW + timedelta(hours=1))
        body = {"nodes": [node], "ends": ends, "reason": "new optics"}
        assert (await client.post("/v1/maintenance", json=body)).status_code == 201


@pytest.mark.parametrize(("tended", "accused"), [(1, []), (2, [node_name(1)])])
def test_only_the_node_under_maintenance_is_not_accused(
    store: Store, tended: int, accused: list[NodeName]
) -> None:
    bus, ticks = MemoryGroupBus(), count()
    joined = [
        event(EventKind.MEMBERSHIP, -1, node_name(rank), rank, change="joined") for rank in (1, 2)
    ]
    crew = Crew(bus)
    crew.publish(joined)
    asyncio.run(declare(store, node_name(tended)))
    config = RemediateConfig(poll_seconds=0.001)
    remediate(config, bus, ObservingLauncher(), store, lambda: NOW, StopSoon(1))
    crew.publish(merged(Scene(seconds=6).batches(), [job_state("training", 0), exit_of(1, 4.5)]))
    service = DiagnoseConfig(poll_seconds=0.0, group="diagnose")
    diagnose(service, bus, lambda: float(next(ticks)), StopAfter(5))
    told = [Verdict.from_json(message.payload) for message in bus.held(Topic.VERDICTS)]
    assert [(one.job, one.node) for one in told] == [(JOB, node) for node in accused]
