"""When seconds close, and what happens to what comes too late or too early."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from paramedic.ingest.contract import Entity, Event, JobName, TelemetryBatch
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.errors import WindowNotHeldError
from paramedic.ingest.windows.job import JobWindows

Batches = Callable[..., TelemetryBatch]
START = 1_767_225_600


@pytest.fixture
def windows() -> JobWindows:
    return JobWindows(WindowConfig(), JobName("job"))


def feed(windows: JobWindows, node_batch: Batches, nodes: str, seconds: range) -> None:
    for second in seconds:
        windows.accept(node_batch(second, dict.fromkeys(nodes, 0.5)), second + 1.0)


def test_nothing_is_closed_before_the_lateness_has_passed(
    windows: JobWindows, node_batch: Batches
) -> None:
    feed(windows, node_batch, "abcd", range(START, START + 3))
    assert windows.advance(START + 3.0) == []
    assert windows.watermark is None
    with pytest.raises(WindowNotHeldError, match="no second is closed yet"):
        windows.window(Entity.NODE)


def test_a_second_closes_when_half_of_the_nodes_are_the_lateness_past_it(
    windows: JobWindows, node_batch: Batches
) -> None:
    feed(windows, node_batch, "abcd", range(START, START + 3))
    windows.accept(node_batch(START + 3, {"a": 0.5}), START + 4.0)
    assert windows.advance(START + 4.0) == []
    windows.accept(node_batch(START + 3, {"b": 0.5}), START + 4.0)
    assert windows.advance(START + 4.0) == [START]


def test_advance_tells_each_closed_second_once(windows: JobWindows, node_batch: Batches) -> None:
    feed(windows, node_batch, "ab", range(START, START + 6))
    assert windows.advance(START + 6.0) == [START, START + 1, START + 2]
    assert windows.advance(START + 6.0) == []


def test_a_late_sample_is_counted_and_not_used(windows: JobWindows, node_batch: Batches) -> None:
    feed(windows, node_batch, "ab", range(START, START + 6))
    windows.accept(node_batch(START + 2, {"a": 9.0, "c": 9.0}), START + 6.5)
    window = windows.window_at(Entity.NODE, START + 2)
    assert windows.counters().late == 2
    assert window.values[0, 0, -1] == 0.5
    assert [key.node for key in window.rows] == ["a", "b"]


def test_who_comes_late_is_remembered_until_the_node_leaves(
    windows: JobWindows, node_batch: Batches, membership: Callable[..., Event]
) -> None:
    feed(windows, node_batch, "ab", range(START, START + 10))
    windows.accept(node_batch(START + 2, {"a": 2.0}), START + 11.0)
    expected = {"a": START + 6}
    assert windows.late(Entity.NODE) == expected
    resumed = JobWindows.resume(WindowConfig(), windows.snapshot())
    assert resumed.late(Entity.NODE) == expected
    assert not windows.late(Entity.GPU)
    windows.membership(membership("left", "a"))
    assert not windows.late(Entity.NODE)
    assert resumed.late(Entity.NODE) == expected


def test_a_sample_within_the_lateness_is_used(windows: JobWindows, node_batch: Batches) -> None:
    feed(windows, node_batch, "ab", range(START, START + 6))
    windows.accept(node_batch(START + 3, {"a": 9.0}), START + 6.5)
    feed(windows, node_batch, "ab", range(START + 6, START + 8))
    assert windows.window_at(Entity.NODE, START + 3).values[0, 0, -1] == 9.0


def test_a_silent_bus_lets_arrival_time_close_seconds(
    windows: JobWindows, node_batch: Batches
) -> None:
    feed(windows, node_batch, "ab", range(START, START + 6))
    windows.advance(START + 6.0)
    assert windows.advance(START + 9.0) == []
    assert windows.advance(START + 10.0) == [START + 3]
    assert windows.advance(START + 11.0) == [START + 4]
    feed(windows, node_batch, "ab", range(START + 11, START + 12))
    closed = windows.advance(START + 12.0)
    assert closed == [START + 5, START + 6, START + 7, START + 8]
    window = windows.window(Entity.NODE)
    assert window.observed[0, 0, -4:].tolist() == [True, False, False, False]


def test_a_minority_that_goes_on_does_not_hold_the_watermark_back(
    windows: JobWindows, node_batch: Batches
) -> None:
    feed(windows, node_batch, "abcde", range(START, START + 6))
    for second in range(START + 6, START + 16):
        windows.accept(node_batch(second, {"a": 0.5}), second + 1.0)
        windows.advance(second + 1.0)
    assert windows.watermark == START + 9


def test_time_without_any_telemetry_closes_nothing(windows: JobWindows) -> None:
    assert windows.advance(START + 100.0) == []


def test_a_leap_leaves_out_the_seconds_that_are_no_longer_held(
    windows: JobWindows, node_batch: Batches
) -> None:
    feed(windows, node_batch, "ab", range(START, START + 6))
    windows.advance(START + 6.0)
    feed(windows, node_batch, "ab", range(START + 1000, START + 1001))
    closed = windows.advance(START + 1001.0)
    assert closed[-1] == START + 997
    assert len(closed) == WindowConfig().history_slots + 1
    assert windows.counters().skipped_seconds == 997 - 2 - len(closed)
    assert not windows.window(Entity.NODE).observed.any()


def test_one_node_far_in_the_future_is_refused_and_moves_nothing(
    windows: JobWindows, node_batch: Batches
) -> None:
    feed(windows, node_batch, "abc", range(START, START + 6))
    windows.accept(node_batch(START + 5000, {"a": 0.5}), START + 6.0)
    windows.advance(START + 6.0)
    assert windows.watermark == START + 2
    assert windows.counters().ahead == 1


def test_a_minority_that_runs_far_ahead_is_not_kept_room_for(
    windows: JobWindows, node_batch: Batches
) -> None:
    feed(windows, node_batch, "abc", range(START, START + 6))
    feed(windows, node_batch, "a", range(START + 6, START + 106))
    newest_kept = START + 2 + WindowConfig().open_slots
    assert windows.counters().ahead == START + 105 - newest_kept
    feed(windows, node_batch, "bc", range(START + 6, START + 106))
    windows.advance(START + 106.0)
    window = windows.window_at(Entity.NODE, newest_kept + 30)
    assert window.observed[0, 0].tolist() == [True] * 30 + [False] * 30


def test_the_departure_of_slow_nodes_lets_the_rest_go_on(
    windows: JobWindows, node_batch: Batches, membership: Callable[..., Event]
) -> None:
    feed(windows, node_batch, "abcde", range(START, START + 4))
    feed(windows, node_batch, "ab", range(START + 4, START + 6))
    assert windows.advance(START + 6.0) == [START]
    windows.membership(membership("left", "c"))
    assert windows.advance(START + 6.0) == [START + 1, START + 2]


def test_windows_are_held_for_the_history_and_not_beyond(
    windows: JobWindows, node_batch: Batches
) -> None:
    feed(windows, node_batch, "ab", range(START, START + 100))
    newest = windows.window(Entity.NODE)
    assert newest.last_second == START + 96
    assert newest.observed.all()
    assert windows.window_at(Entity.NODE, START + 81).observed.all()
    for second in (START + 80, START + 97):
        with pytest.raises(WindowNotHeldError, match=str(second)):
            windows.window_at(Entity.NODE, second)


def test_the_first_windows_have_an_unobserved_past(
    windows: JobWindows, node_batch: Batches
) -> None:
    feed(windows, node_batch, "ab", range(START, START + 6))
    window = windows.window_at(Entity.NODE, START + 1)
    assert window.values.shape == (2, 1, 60)
    assert window.first_second == START - 58
    assert np.isnan(window.values[:, :, :58]).all()
    assert window.observed[:, :, 58:].all()
