"""Which rows a window has: appearance, departure, generations, duplicates."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pytest

from paramedic.ingest.contract import (
    Entity,
    EntityKey,
    Event,
    EventKind,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
    Window,
)
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.errors import ForeignBatchError
from paramedic.ingest.windows.job import JobWindows

Batches = Callable[..., TelemetryBatch]
Events = Callable[..., Event]
START = 1_767_225_600


@pytest.fixture
def windows() -> JobWindows:
    return JobWindows(WindowConfig(), JobName("job"))


def names(window: Window) -> list[tuple[str, int | None]]:
    return [(key.node, key.index) for key in window.rows]


def feed(windows: JobWindows, build: Batches, rows: list[object], *seconds: int) -> None:
    for second in seconds:
        windows.accept(build(START + second, dict.fromkeys(rows, 1.0)), START + second + 1.0)


def test_a_row_that_was_never_seen_does_not_exist(windows: JobWindows, node_batch: Batches) -> None:
    feed(windows, node_batch, ["b", "a"], *range(6))
    assert names(windows.window(Entity.NODE)) == [("a", None), ("b", None)]
    assert windows.window(Entity.RANK).values.shape == (0, 0, 60)


def test_a_window_that_is_read_again_is_the_same_until_something_is_written(
    windows: JobWindows, node_batch: Batches
) -> None:
    feed(windows, node_batch, ["a"], *range(6))
    first = windows.window_until(Entity.NODE, START + 6)
    assert windows.window_until(Entity.NODE, START + 6) is first
    assert not first.observed[..., -1].any()
    assert windows.window_until(Entity.NODE, START + 5).observed[..., -1].all()
    feed(windows, node_batch, ["a"], 6)
    assert windows.window_until(Entity.NODE, START + 6).observed[..., -1].all()


def test_a_window_that_was_read_does_not_keep_who_has_left(
    windows: JobWindows, node_batch: Batches, membership: Events
) -> None:
    feed(windows, node_batch, ["a", "b"], *range(6))
    assert len(windows.window_until(Entity.NODE, START + 5).rows) == 2
    windows.membership(membership("left", "b"))
    assert names(windows.window_until(Entity.NODE, START + 5)) == [("a", None)]


def test_a_newcomer_has_an_unobserved_past(windows: JobWindows, node_batch: Batches) -> None:
    feed(windows, node_batch, ["b", "c"], *range(6))
    feed(windows, node_batch, ["a", "b", "c"], 6)
    feed(windows, node_batch, ["b", "c"], *range(7, 10))
    window = windows.window(Entity.NODE)
    assert names(window)[0] == ("a", None)
    assert window.observed[0, 0].tolist() == [False] * 59 + [True]


def test_a_node_that_left_is_out_of_every_window(
    windows: JobWindows, node_batch: Batches, rank_batch: Batches, membership: Events
) -> None:
    feed(windows, node_batch, ["a", "b"], *range(6))
    feed(windows, rank_batch, [("a", 0), ("b", 1)], *range(3, 6))
    windows.membership(membership("left", "b"))
    feed(windows, node_batch, ["a", "b"], 6)
    assert names(windows.window(Entity.NODE)) == [("a", None)]
    assert names(windows.window(Entity.RANK)) == [("a", 0)]
    assert windows.counters().departed == 1


def test_a_node_that_joins_again_begins_anew(
    windows: JobWindows, node_batch: Batches, membership: Events
) -> None:
    feed(windows, node_batch, ["a", "b"], *range(6))
    windows.membership(membership("left", "b"))
    windows.membership(membership("joined", "b"))
    feed(windows, node_batch, ["a", "b"], *range(6, 10))
    window = windows.window(Entity.NODE)
    assert window.observed[1, 0].sum() == 1


def test_the_spare_gets_a_row_of_its_own(
    windows: JobWindows, rank_batch: Batches, membership: Events
) -> None:
    feed(windows, rank_batch, [("a", 0), ("b", 1)], *range(6))
    windows.membership(membership("replaced_by", "b", generation=1, by="s"))
    batch = rank_batch(START + 6, {("a", 0): 1.0, ("s", 1): 1.0}, generation=1)
    windows.accept(batch, START + 7.0)
    window = windows.window(Entity.RANK)
    assert names(window) == [("a", 0), ("s", 1)]
    assert window.generation == 1
    assert not window.observed[1].any()


def test_a_rank_that_moved_leaves_its_old_row_even_before_membership_says_so(
    windows: JobWindows, rank_batch: Batches
) -> None:
    feed(windows, rank_batch, [("a", 0), ("b", 1)], *range(6))
    windows.accept(rank_batch(START + 6, {("s", 1): 1.0}, generation=1), START + 7.0)
    windows.accept(rank_batch(START + 6, {("b", 1): 1.0}, generation=0), START + 7.0)
    assert names(windows.window(Entity.RANK)) == [("a", 0), ("s", 1)]
    assert windows.counters().stale_generation == 1


def test_a_node_that_changes_its_rank_without_leaving_gives_up_its_old_row(
    windows: JobWindows, rank_batch: Batches
) -> None:
    feed(windows, rank_batch, [("a", 0), ("b", 1), ("c", 2)], *range(6))
    shrunk = {("a", 0): 1.0, ("c", 1): 1.0}
    windows.accept(rank_batch(START + 6, shrunk, generation=1), START + 7.0)
    assert names(windows.window(Entity.RANK)) == [("a", 0), ("c", 1)]
    late = {("b", 1): 1.0, ("c", 2): 1.0}
    windows.accept(rank_batch(START + 5, late, generation=0), START + 7.5)
    assert names(windows.window(Entity.RANK)) == [("a", 0), ("c", 1)]
    assert windows.counters().stale_generation == 2


def test_nodes_that_swap_their_ranks_have_one_row_each(
    windows: JobWindows, rank_batch: Batches
) -> None:
    feed(windows, rank_batch, [("a", 0), ("b", 1)], *range(6))
    windows.accept(rank_batch(START + 6, {("a", 1): 1.0}, generation=1), START + 7.0)
    windows.accept(rank_batch(START + 6, {("b", 0): 1.0}, generation=1), START + 7.0)
    assert names(windows.window(Entity.RANK)) == [("a", 1), ("b", 0)]


def test_a_node_may_carry_several_ranks_of_one_generation(
    windows: JobWindows, rank_batch: Batches
) -> None:
    feed(windows, rank_batch, [("a", 0), ("a", 1)], *range(6))
    both = rank_batch(START + 6, {("a", 0): 1.0, ("a", 1): 1.0}, generation=1)
    windows.accept(both, START + 7.0)
    windows.accept(rank_batch(START + 7, {("a", 2): 1.0}, generation=1), START + 8.0)
    window = windows.window(Entity.RANK)
    assert names(window) == [("a", 0), ("a", 1), ("a", 2)]
    assert window.observed[0, 0].sum() == 5, "its past in the older generation stays"


def test_a_batch_of_an_older_generation_is_refused_for_rank_rows_only(
    windows: JobWindows, node_batch: Batches, rank_batch: Batches
) -> None:
    windows.accept(rank_batch(START, {("a", 0): 1.0}, generation=2), START + 1.0)
    windows.accept(rank_batch(START + 1, {("a", 0): 1.0}, generation=1), START + 2.0)
    feed(windows, node_batch, ["a"], *range(6))
    assert windows.counters().stale_generation == 1
    assert windows.window_at(Entity.RANK, START + 1).observed[0, 0, -2:].tolist() == [True, False]
    assert windows.window_at(Entity.NODE, START + 1).observed[0, 0, -2:].tolist() == [True, True]


def test_the_last_duplicate_wins_and_is_counted(windows: JobWindows, node_batch: Batches) -> None:
    windows.accept(node_batch(START, {"a": 1.0}), START + 1.0)
    windows.accept(node_batch(START, {"a": 2.0}), START + 1.1)
    windows.accept(node_batch(START, {"a": math.nan}), START + 1.2)
    windows.accept(node_batch(START, {"a": 7.0}, metric="load_average"), START + 1.3)
    feed(windows, node_batch, ["a"], *range(1, 4))
    window = windows.window_at(Entity.NODE, START)
    assert window.metrics == ("cpu_utilization_ratio", "load_average")
    assert window.values[0, :, -1].tolist() == [2.0, 7.0]
    assert windows.counters().duplicate == 1


def test_an_observed_nan_is_a_hole(windows: JobWindows, node_batch: Batches) -> None:
    feed(windows, node_batch, ["a"], 0, 1)
    windows.accept(node_batch(START + 2, {"a": math.nan}), START + 3.0)
    feed(windows, node_batch, ["a"], 3, 4, 5)
    window = windows.window(Entity.NODE)
    assert window.observed[0, 0, -3:].tolist() == [True, True, False]
    assert np.isnan(window.values[0, 0, -1])


def test_gpu_rows_are_keyed_by_node_and_index(windows: JobWindows) -> None:
    for second in range(START, START + 4):
        columns = {"gpu_power_watts": (1.0, 2.0, 3.0)}
        nodes = (NodeName("b"), NodeName("a"), NodeName("a"))
        table = Table(Entity.GPU, nodes, (0, 1, 0), columns)
        windows.accept(TelemetryBatch(JobName("job"), 0, second, (table,)), second + 1.0)
    window = windows.window(Entity.GPU)
    assert window.rows[0] == EntityKey(Entity.GPU, NodeName("a"), 0)
    assert window.values[:, 0, -1].tolist() == [3.0, 2.0, 1.0]


def test_a_window_cannot_be_written_to(windows: JobWindows, node_batch: Batches) -> None:
    feed(windows, node_batch, ["a"], *range(6))
    window = windows.window(Entity.NODE)
    with pytest.raises(ValueError, match="read-only"):
        window.values[0, 0, 0] = 1.0


def test_other_events_change_nothing(windows: JobWindows, node_batch: Batches) -> None:
    feed(windows, node_batch, ["a"], *range(6))
    event = Event(
        timestamp=datetime(2026, 1, 1, tzinfo=UTC),
        kind=EventKind.PROCESS_EXIT,
        job=JobName("job"),
        node=NodeName("a"),
        details={"change": "left"},
    )
    windows.membership(event)
    assert names(windows.window(Entity.NODE)) == [("a", None)]


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (TelemetryBatch(JobName("other"), 0, START, ()), "batch of job 'other'"),
        (
            TelemetryBatch(
                JobName("job"), 0, START, (Table(Entity.NODE, (NodeName("a"),), None, {"m": ()}),)
            ),
            "'m' has 0 values for 1",
        ),
        (
            TelemetryBatch(
                JobName("job"), 0, START, (Table(Entity.RANK, (NodeName("a"),), (), {}),)
            ),
            "1 nodes and 0 indices",
        ),
    ],
)
def test_a_batch_that_cannot_belong_here_is_an_error_and_leaves_no_trace(
    windows: JobWindows, batch: TelemetryBatch, reason: str
) -> None:
    with pytest.raises(ForeignBatchError, match=reason):
        windows.accept(batch, START + 1.0)
    assert windows.counters().received == 0
    assert windows.advance(START + 100.0) == []
