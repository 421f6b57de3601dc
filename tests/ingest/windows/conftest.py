"""Builders of batches; nothing here keeps state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import pytest

from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)

JOB = JobName("job")


@pytest.fixture(scope="session")
def node_batch() -> Callable[..., TelemetryBatch]:
    """`node_batch(second, {"a": 0.5}, metric=…)`: one node row each."""

    def build(
        second: int, values: Mapping[str, float], metric: str = "cpu_utilization_ratio"
    ) -> TelemetryBatch:
        nodes = tuple(NodeName(name) for name in values)
        table = Table(Entity.NODE, nodes, None, {metric: tuple(values.values())})
        return TelemetryBatch(JOB, 0, second, (table,))

    return build


@pytest.fixture(scope="session")
def rank_batch() -> Callable[..., TelemetryBatch]:
    """`rank_batch(second, {("a", 0): 1.0}, generation=…)`: one rank row each."""

    def build(
        second: int,
        values: Mapping[tuple[str, int], float],
        generation: int = 0,
        metric: str = "heartbeat",
    ) -> TelemetryBatch:
        nodes = tuple(NodeName(name) for name, _ in values)
        ranks = tuple(rank for _, rank in values)
        table = Table(Entity.RANK, nodes, ranks, {metric: tuple(values.values())})
        return TelemetryBatch(JOB, generation, second, (table,))

    return build


@pytest.fixture(scope="session")
def membership() -> Callable[..., Event]:
    """`membership("replaced_by", "a", by="b")`."""

    def build(change: str, node: str, generation: int | None = None, **details: str) -> Event:
        return Event(
            timestamp=datetime(2026, 1, 1, tzinfo=UTC),
            kind=EventKind.MEMBERSHIP,
            job=JOB,
            node=NodeName(node),
            generation=generation,
            details={"change": change, **details},
        )

    return build
