"""Nodes whose clock is off are re-based onto the median and named; nobody else suffers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paramedic.ingest.contract import Entity, JobName, TelemetryBatch
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows

Batches = Callable[..., TelemetryBatch]
START = 1_767_225_600


def run(
    node_batch: Batches, errors: dict[str, int], seconds: int, observer_error: float = 0.0
) -> JobWindows:
    """Feeds nodes whose clocks are off by so many seconds for a while."""
    windows = JobWindows(WindowConfig(), JobName("job"))
    for second in range(START, START + seconds):
        for node, error in errors.items():
            arrived = second + 1.0 + observer_error
            windows.accept(node_batch(second + error, {node: float(second - START)}), arrived)
    windows.advance(START + seconds + observer_error)
    return windows


@pytest.mark.parametrize("error", [-3600, -20, 8, 20, 3600])
@pytest.mark.parametrize("first", [True, False])
def test_a_wrong_clock_is_moved_onto_the_median_and_named(
    node_batch: Batches, error: int, first: bool
) -> None:
    others = {"b": 0, "c": 0, "d": 0}
    errors = {"a": error, **others} if first else {**others, "a": error}
    windows = run(node_batch, errors, seconds=20)
    (rebased,) = windows.rebased_clocks()
    assert (rebased.node, rebased.shift_seconds) == ("a", -error)
    assert windows.watermark == START + 16
    window = windows.window(Entity.NODE)
    assert window.values[:, 0, -10:].tolist() == [list(range(7, 17))] * 4
    assert windows.counters().rebased >= 15


@pytest.mark.parametrize("error", [-5, 2, 5])
def test_a_clock_within_the_limit_is_left_alone(node_batch: Batches, error: int) -> None:
    windows = run(node_batch, {"a": error, "b": 0, "c": 0}, seconds=20)
    assert windows.rebased_clocks() == ()
    assert (windows.counters().rebased, windows.counters().ahead) == (0, 0)


def test_the_observers_own_clock_does_not_matter(node_batch: Batches) -> None:
    windows = run(node_batch, {"a": 0, "b": 0, "c": 0}, seconds=20, observer_error=500.0)
    assert windows.rebased_clocks() == ()
    assert windows.watermark == START + 16


def test_of_two_nodes_the_one_that_agrees_with_the_observer_is_right(node_batch: Batches) -> None:
    windows = run(node_batch, {"a": 600, "b": 0}, seconds=20)
    assert [clock.node for clock in windows.rebased_clocks()] == ["a"]
    assert windows.watermark == START + 16


def test_a_backlog_that_drains_at_once_is_no_wrong_clock(node_batch: Batches) -> None:
    windows = run(node_batch, {"a": 0, "b": 0, "c": 0}, seconds=5)
    for second in range(START + 5, START + 35):
        windows.accept(node_batch(second, {"b": 0.5, "c": 0.5}), second + 1.0)
    for second in range(START + 5, START + 35):
        windows.accept(node_batch(second, {"a": 0.5}), START + 35.0)
    for second in range(START + 35, START + 45):
        windows.accept(node_batch(second, {"a": 0.5, "b": 0.5, "c": 0.5}), second + 1.0)
    assert windows.rebased_clocks() == ()
    assert windows.counters().late == 27


def test_a_clock_that_is_put_right_is_believed_again(node_batch: Batches) -> None:
    windows = run(node_batch, {"a": 100, "b": 0, "c": 0}, seconds=10)
    assert len(windows.rebased_clocks()) == 1
    for second in range(START + 10, START + 30):
        for node in "abc":
            error = 2 if node == "a" else 0
            windows.accept(node_batch(second + error, {node: 1.0}), second + 1.0)
    assert windows.rebased_clocks() == ()
    assert windows.window(Entity.NODE).observed[:, 0, -10:].all()


def test_a_clock_that_steps_back_in_mid_run_costs_the_seconds_until_it_is_settled(
    node_batch: Batches,
) -> None:
    windows = run(node_batch, {"a": 0, "b": 0, "c": 0}, seconds=20)
    for second in range(START + 20, START + 40):
        for node in "abc":
            stated = second - 10 if node == "a" else second
            windows.accept(node_batch(stated, {node: float(second - START)}), second + 1.0)
    (rebased,) = windows.rebased_clocks()
    assert (rebased.node, rebased.shift_seconds) == ("a", 10)
    assert windows.counters().late == 3
    window = windows.window(Entity.NODE)
    assert window.values[0, 0, -10:].tolist() == window.values[1, 0, -10:].tolist()
    assert window.observed[1:, 0, -30:].all()


@pytest.mark.parametrize(
    ("observer_follows", "late_seconds", "holes"),
    # An observer that keeps its time sees silence meanwhile, which closes seven seconds more: of
    # these, three were there before the step.
    [(True, 7, 0), (False, 14, 4)],
)
def test_when_all_clocks_step_back_nothing_is_closed_twice_and_nobody_is_blamed(
    node_batch: Batches, observer_follows: bool, late_seconds: int, holes: int
) -> None:
    windows = run(node_batch, {"a": 0, "b": 0, "c": 0}, seconds=20)
    told = []
    for second in range(START + 20, START + 50):
        arrived = second - 9.0 if observer_follows else second + 1.0
        for node in "abc":
            windows.accept(node_batch(second - 10, {node: float(second)}), arrived)
        told += windows.advance(arrived)
    assert windows.rebased_clocks() == ()
    assert told == sorted(set(told))
    assert windows.watermark == START + 36
    assert windows.counters().late == 3 * late_seconds
    assert (~windows.window(Entity.NODE).observed[:, 0, -30:]).sum() == 3 * holes


def test_a_lone_node_is_always_believed(node_batch: Batches) -> None:
    windows = run(node_batch, {"a": 5000}, seconds=10)
    assert windows.rebased_clocks() == ()
    assert windows.watermark == START + 5000 + 6


def test_a_first_node_of_another_year_is_not_kept_room_for(node_batch: Batches) -> None:
    windows = run(node_batch, {"a": 1_000_000, "b": 0, "c": 0}, seconds=2)
    assert max(len(slots.values) for slots in windows.snapshot().slots) < 100
