"""The frontier shows what was seen last, without waiting for any lateness."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, TelemetryBatch
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows
from paramedic.ingest.windows.sightings import Sighting

Batches = Callable[..., TelemetryBatch]
START = 1_767_225_600
RANK = EntityKey(Entity.RANK, NodeName("a"), 0)


@pytest.fixture
def windows() -> JobWindows:
    return JobWindows(WindowConfig(), JobName("job"))


def test_it_moves_with_the_first_batch(windows: JobWindows, rank_batch: Batches) -> None:
    windows.accept(rank_batch(START, {("a", 0): 1.0}, generation=3), START + 0.25)
    frontier = windows.frontier()
    assert frontier.head_second == START
    assert frontier.nodes == {"a": Sighting(START, START + 0.25, 3)}
    assert frontier.heartbeats == {RANK: Sighting(START, START + 0.25, 3)}


def test_only_a_heartbeat_with_a_value_counts(windows: JobWindows, rank_batch: Batches) -> None:
    windows.accept(rank_batch(START, {("a", 0): 1.0}), START + 1.0)
    windows.accept(rank_batch(START + 1, {("a", 0): math.nan}), START + 2.0)
    windows.accept(rank_batch(START + 2, {("a", 0): 7.0}, metric="step"), START + 3.0)
    assert windows.frontier().heartbeats[RANK].second == START
    assert windows.frontier().nodes[NodeName("a")].second == START + 2


def test_a_node_that_is_seen_does_not_hide_a_silent_rank(
    windows: JobWindows, node_batch: Batches, rank_batch: Batches
) -> None:
    windows.accept(rank_batch(START, {("a", 0): 1.0}), START + 1.0)
    for second in range(START, START + 12):
        windows.accept(node_batch(second, {"a": 0.0}), second + 1.0)
    frontier = windows.frontier()
    assert frontier.nodes[NodeName("a")].second - frontier.heartbeats[RANK].second == 11


def test_a_late_heartbeat_shows_that_the_rank_was_alive(
    windows: JobWindows, node_batch: Batches, rank_batch: Batches
) -> None:
    windows.accept(rank_batch(START, {("a", 0): 1.0}), START + 1.0)
    for second in range(START, START + 12):
        windows.accept(node_batch(second, {"a": 0.0, "b": 0.0}), second + 1.0)
    windows.accept(rank_batch(START + 4, {("a", 0): 1.0}), START + 12.0)
    windows.accept(rank_batch(START + 3, {("a", 0): 1.0}), START + 12.0)
    assert windows.counters().late == 2
    assert windows.frontier().heartbeats[RANK] == Sighting(START + 4, START + 12.0, 0)


def test_a_heartbeat_of_a_clock_that_is_not_believed_is_not_kept(
    windows: JobWindows, node_batch: Batches, rank_batch: Batches
) -> None:
    windows.accept(rank_batch(START, {("a", 0): 1.0}), START + 1.0)
    windows.accept(node_batch(START, {"b": 0.0, "c": 0.0}), START + 1.0)
    windows.accept(rank_batch(START + 500, {("a", 0): 1.0}), START + 2.0)
    assert windows.frontier().heartbeats[RANK].second == START
