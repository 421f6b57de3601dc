"""A recording in windows: what was late live is late again, and what was there is there."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from ingest.recordings.recorded import (
    JOB,
    START,
    Row,
    describe,
    gpu_row,
    moment,
    open_and_play,
    write_rows,
)
from paramedic.ingest.contract import Entity, NodeName
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows


def on_time(seconds: int, nodes: str = "abcd") -> list[Row]:
    """Rows that come a fifth of a second after their second is over."""
    return [
        gpu_row(second, node, power=100.0 * at + second) | {"arrived": moment(second + 1.2)}
        for second in range(seconds)
        for at, node in enumerate(nodes)
    ]


def windows_of(folder: Path, sampling_seconds: int = 1) -> JobWindows:
    """The windows after the whole recording was played."""
    config = WindowConfig(sampling_seconds=sampling_seconds, window_seconds=10)
    windows = JobWindows(config, JOB)
    for batch, stream_seconds in open_and_play(folder):
        windows.accept(batch, stream_seconds)
        windows.advance(stream_seconds)
    return windows


@pytest.mark.parametrize(("delay", "late"), [(1.0, 0), (2.9, 0), (6.0, 1), (30.0, 1)])
def test_a_row_that_was_too_late_live_is_too_late_again(
    tmp_path: Path, delay: float, late: int
) -> None:
    rows = on_time(40)
    rows[5] = rows[5] | {"arrived": moment(2.2 + delay)}
    write_rows(describe(tmp_path, "abcd"), "gpu", rows)
    counters = windows_of(tmp_path).counters()
    assert (counters.late, counters.accepted) == (late, len(rows) - late)


def test_without_arrivals_nothing_is_late(tmp_path: Path) -> None:
    rows = [{name: row[name] for name in row if name != "arrived"} for row in on_time(40)]
    write_rows(describe(tmp_path, "abcd"), "gpu", rows[::-1])
    counters = windows_of(tmp_path).counters()
    assert (counters.late, counters.accepted, counters.duplicate) == (0, len(rows), 0)


def test_values_holes_and_rows_are_where_they_belong(tmp_path: Path) -> None:
    rows = [
        row for row in on_time(20) if not (row["node"] == "b" and row["timestamp"] == moment(12))
    ]
    rows[50]["gpu_power_watts"] = None
    write_rows(describe(tmp_path, "abcd"), "gpu", rows)
    window = windows_of(tmp_path).window(Entity.GPU)
    assert [key.node for key in window.rows] == list("abcd")
    expected = np.array(
        [[100.0 * at + second - START for second in window.seconds] for at in range(4)]
    )
    expected[1, list(window.seconds).index(START + 12)] = math.nan
    missing = rows[50]
    at = "abcd".index(missing["node"]), int(missing["timestamp"].timestamp()) - window.first_second
    expected[at] = math.nan
    np.testing.assert_array_equal(window.values[:, 0], expected)
    np.testing.assert_array_equal(window.observed[:, 0], ~np.isnan(expected))


def test_a_slow_source_fills_wide_slots(tmp_path: Path) -> None:
    rows = [gpu_row(second, node) for second in range(0, 150, 15) for node in "ab"]
    write_rows(describe(tmp_path, sampling_seconds=15), "gpu", rows)
    window = windows_of(tmp_path, 15).window(Entity.GPU)
    assert window.slot_seconds == 15
    assert window.observed.all()


def test_a_clock_that_is_off_is_found_by_arrivals(tmp_path: Path) -> None:
    """The recording keeps what the node's own clock said, and when the rows came."""
    rows = on_time(60)
    for row in rows:
        if row["node"] == "d":
            row["timestamp"] = moment(int(row["timestamp"].timestamp()) - START - 20)
    write_rows(describe(tmp_path, "abcd"), "gpu", rows)
    windows = windows_of(tmp_path)
    (rebased,) = windows.rebased_clocks()
    assert rebased.node == NodeName("d")
    assert rebased.shift_seconds in (19, 20), "the stream's time is known to a second"
    assert windows.window(Entity.GPU).observed.all()
