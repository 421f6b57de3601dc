"""Slots wider than a second: the same rules, in terms of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.contract import Entity, JobName, TelemetryBatch
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.errors import WindowSettingError
from paramedic.ingest.windows.job import JobWindows

Batches = Callable[..., TelemetryBatch]
START = 1_767_225_600
"""Lies on the grid of every width used here."""
WIDTHS = (2, 5, 10, 15, 30, 60)


def windows_of(width: int) -> JobWindows:
    return JobWindows(WindowConfig(sampling_seconds=width), JobName("job"))


def feed(
    windows: JobWindows, node_batch: Batches, width: int, slots: range, nodes: str = "abc"
) -> list[int]:
    """Each node once a slot, on the grid; returns what was told to be closed, in slots."""
    told = []
    for slot in slots:
        second = START + slot * width
        windows.accept(node_batch(second, {n: float(slot) for n in nodes}), second + 1.0)
        told += windows.advance(second + 1.0)
    return [(second - START) // width for second in told]


@pytest.mark.parametrize(
    ("width", "slots", "history", "open_slots"),
    [(1, 60, 15, 63), (2, 30, 8, 32), (15, 4, 1, 5), (30, 4, 1, 5), (60, 4, 1, 5), (90, 4, 1, 5)],
)
def test_a_window_is_the_last_minute_and_at_least_four_slots(
    width: int, slots: int, history: int, open_slots: int
) -> None:
    config = WindowConfig(sampling_seconds=width)
    assert (config.slots, config.history_slots, config.open_slots) == (slots, history, open_slots)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_slot_is_named_by_its_first_second(node_batch: Batches, width: int) -> None:
    windows = windows_of(width)
    told = feed(windows, node_batch, width, range(8))
    assert told == list(range(len(told)))
    window = windows.window(Entity.NODE)
    assert window.slot_seconds == width
    assert window.last_second == windows.watermark == START + told[-1] * width
    assert list(np.diff(window.seconds)) == [width] * (window.values.shape[2] - 1)
    shown = window.values[0, 0, -len(told) :]
    assert shown.tolist() == told[-shown.size :]


@pytest.mark.parametrize(("width", "open_slots"), [(2, 2), (3, 1), (15, 1), (60, 1)])
def test_a_slot_closes_when_half_of_the_nodes_are_the_lateness_past_its_beginning(
    node_batch: Batches, width: int, open_slots: int
) -> None:
    windows = windows_of(width)
    assert feed(windows, node_batch, width, range(open_slots)) == []
    assert feed(windows, node_batch, width, range(open_slots, open_slots + 1), "a") == []
    assert feed(windows, node_batch, width, range(open_slots, open_slots + 1), "b") == [0]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("off", [0, 1])
def test_a_second_between_two_slots_belongs_to_the_older(
    node_batch: Batches, width: int, off: int
) -> None:
    windows = windows_of(width)
    windows.accept(node_batch(START + off * (width - 1), {"a": 7.0}), START + width)
    feed(windows, node_batch, width, range(1, 3), "a")
    assert windows.window_at(Entity.NODE, START).values[0, 0, -1] == 7.0


@pytest.mark.parametrize("width", WIDTHS)
def test_what_comes_regularly_is_no_silence(node_batch: Batches, width: int) -> None:
    windows = windows_of(width)
    feed(windows, node_batch, width, range(6))
    watermark = windows.watermark
    windows.accept(node_batch(START + 6 * width, {"a": 6.0}), START + 6 * width + 1.0)
    assert windows.advance(START + 6 * width + 1.0) == []
    assert windows.watermark == watermark


def test_silence_begins_when_the_next_slot_is_over(node_batch: Batches) -> None:
    windows = windows_of(15)
    feed(windows, node_batch, 15, range(6))
    newest, arrived = START + 5 * 15, START + 5 * 15 + 1.0
    assert windows.watermark == newest - 15
    borne_with = 14 + WindowConfig().silence_seconds
    assert windows.advance(arrived + borne_with + 2.5) == []
    assert windows.advance(arrived + borne_with + 3.5) == [newest]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("error", [-1, 1])
def test_a_node_one_slot_off_is_not_re_based_and_one_two_slots_off_is(
    node_batch: Batches, width: int, error: int
) -> None:
    for slots_off in (1, 2 + 6 // width):
        windows = windows_of(width)
        for slot in range(12):
            for node, off in {"a": error * slots_off, "b": 0, "c": 0, "d": 0}.items():
                second = START + (20 + slot) * width
                windows.accept(node_batch(second + off * width, {node: 0.5}), second + 1.0)
        shifts = [clock.shift_seconds for clock in windows.rebased_clocks()]
        assert shifts == ([] if slots_off == 1 else [-error * slots_off * width])


@pytest.mark.parametrize("width", WIDTHS)
def test_a_late_slot_is_refused_and_one_ahead_is_kept(node_batch: Batches, width: int) -> None:
    windows = windows_of(width)
    feed(windows, node_batch, width, range(8))
    assert windows.watermark is not None
    windows.accept(node_batch(windows.watermark, {"a": 9.0}), START + 8 * width)
    assert windows.counters().late == 1
    feed(windows, node_batch, width, range(8, 10), "a")
    assert windows.counters().ahead == 0


def test_a_leap_is_counted_in_seconds(node_batch: Batches) -> None:
    windows = windows_of(10)
    feed(windows, node_batch, 10, range(4))
    told = feed(windows, node_batch, 10, range(1000, 1001))
    assert told == [997, 998, 999]
    assert windows.counters().skipped_seconds == (997 - 3) * 10


values_by_slot = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.integers(0, 12)), st.floats(0, 9, width=32), min_size=1
)


@given(values=values_by_slot, width=st.sampled_from(WIDTHS), order=st.permutations("abc"))
def test_wide_slots_are_seconds_in_which_time_goes_more_slowly(
    node_batch: Batches, values: dict[tuple[str, int], float], width: int, order: list[str]
) -> None:
    """Where the lateness is one slot in both."""
    shown: list[Any] = []
    for step in (1, width):
        config = WindowConfig(
            step, 8 * step, lateness_seconds=1, history_seconds=4 * step, ahead_seconds=60 * step
        )
        windows = JobWindows(config, JobName("job"))
        for node, slot in sorted(values, key=lambda key: (key[1], order.index(key[0]))):
            second = START + slot * step
            windows.accept(node_batch(second, {node: values[node, slot]}), second + 1.0)
        window = None if windows.watermark is None else windows.window(Entity.NODE)
        shown.append(window and ((window.last_second - START) // step, window.values.tolist()))
    np.testing.assert_equal(shown[1], shown[0])


def test_slots_of_another_width_begin_anew_and_members_stay(
    node_batch: Batches, rank_batch: Batches, membership: Callable[..., object]
) -> None:
    windows = windows_of(1)
    feed(windows, node_batch, 1, range(6), "abc")
    windows.accept(rank_batch(START + 6, {("a", 0): 1.0}, generation=3), START + 7.0)
    windows.membership(membership("left", "c"))  # type: ignore[arg-type]
    windows.resample(15)
    assert windows.watermark is None
    feed(windows, node_batch, 15, range(1, 5), "abc")
    window = JobWindows.resume(WindowConfig(), windows.snapshot()).window(Entity.NODE)
    assert (window.slot_seconds, window.generation) == (15, 3)
    assert [key.node for key in window.rows] == ["a", "b"]
    assert window.observed[:, 0].sum() == 2 * 3


def test_the_width_that_is_there_already_changes_nothing(node_batch: Batches) -> None:
    windows = windows_of(5)
    feed(windows, node_batch, 5, range(6))
    watermark = windows.watermark
    windows.resample(5)
    assert windows.watermark == watermark is not None


@pytest.mark.parametrize("width", [0, -1, 1.5])
def test_a_width_that_is_no_whole_number_of_seconds_is_refused(width: float) -> None:
    with pytest.raises(WindowSettingError, match=f"sampling_seconds is {width}"):
        windows_of(1).resample(width)  # type: ignore[arg-type]
