"""A recording read as a history: what was observed is there, as the live run saw it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.recordings.recorded import START, describe, gpu_row, moment, open_and_play, write_rows
from paramedic.ingest.contract import Entity, NodeName, TelemetryBatch
from paramedic.ingest.recordings.errors import RecordingFormatError
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import ClusterConfig, Shape
from paramedic.ingest.synthetic.recording import record
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows
from paramedic.models.histories.recorded import histories_of, history_of
from paramedic.models.history import JobHistory

_SHAPE = Shape(nodes=3, gpus=2, pipeline_stages=1, nodes_per_switch=2)


def rows_of(nodes: str, seconds: range, step: int = 1) -> list[dict[str, object]]:
    return [
        gpu_row(second, node, power=100.0 * at + second % 97)
        for second in seconds[::step]
        for at, node in enumerate(nodes)
    ]


def played(folder: Path, batches: list[TelemetryBatch], count: int) -> JobHistory:
    """The history of a synthetic recording, with the batches that it was made of."""
    config = ClusterConfig(seed=count, shape=_SHAPE).undisturbed()
    cluster = SyntheticCluster(config)
    batches.extend(one.batch() for one in cluster.seconds(0, count))
    record(cluster, folder / "rec", folder / "labels.json", count)
    return history_of(folder / "rec")


@pytest.mark.long
@settings(max_examples=2)
@given(count=st.integers(8, 60))
def test_every_value_of_a_synthetic_cluster_comes_back_in_its_slot(
    tmp_path_factory: pytest.TempPathFactory, count: int
) -> None:
    batches: list[TelemetryBatch] = []
    history = played(tmp_path_factory.mktemp("recorded"), batches, count)
    for batch in batches:
        at = history.seconds.index(batch.second)
        for table in batch.tables:
            window = history.windows[table.entity]
            indices = table.indices or (None,) * len(table.nodes)
            rows = [(row.node, row.index) for row in window.rows]
            places = [rows.index(row) for row in zip(table.nodes, indices, strict=True)]
            for metric, column in table.columns.items():
                if np.isnan(np.asarray(column)).all():
                    continue
                found = window.values[places, window.metrics.index(metric), at]
                np.testing.assert_array_equal(found, np.asarray(column).astype(found.dtype))
    assert len(history.seconds) == count


@pytest.mark.long
def test_the_slots_are_those_of_the_live_windows(tmp_path: Path) -> None:
    """With late samples, lost scrapes and wrong clocks, a slot is what it was when it closed."""
    cluster = SyntheticCluster(ClusterConfig(seed=5, shape=_SHAPE))
    record(cluster, tmp_path / "rec", tmp_path / "labels.json", 100)
    history = history_of(tmp_path / "rec")
    live = JobWindows(WindowConfig(), cluster.job.job)
    for batch, stream_seconds in open_and_play(tmp_path / "rec"):
        live.accept(batch, stream_seconds)
        live.advance(stream_seconds)
    for entity in Entity:
        expected, found = live.window(entity), history.windows[entity]
        begin = found.seconds.index(expected.first_second)
        stop = begin + expected.values.shape[2]
        assert found.rows == expected.rows
        assert found.metrics == expected.metrics
        np.testing.assert_array_equal(found.values[:, :, begin:stop], expected.values)
        np.testing.assert_array_equal(found.observed, ~np.isnan(found.values))


def test_a_silence_leaves_a_hole_and_loses_nothing_before_it(tmp_path: Path) -> None:
    rows = [*rows_of("ab", range(20)), *rows_of("ab", range(400, 420))]
    write_rows(describe(tmp_path), "gpu", rows)
    (history,) = histories_of(tmp_path)
    observed = history.windows[Entity.GPU].observed[:, 0].all(axis=0)
    assert list(np.flatnonzero(observed)) == [*range(20), *range(400, 420)]


def test_after_hours_of_silence_another_history_begins(tmp_path: Path) -> None:
    rows = [*rows_of("ab", range(20)), *rows_of("ab", range(20_000, 20_050))]
    write_rows(describe(tmp_path), "gpu", rows)
    assert [len(one.seconds) for one in histories_of(tmp_path)] == [20, 50]
    assert history_of(tmp_path).seconds[0] == START + 20_000


def test_a_slow_source_has_wide_slots(tmp_path: Path) -> None:
    write_rows(describe(tmp_path, sampling_seconds=15), "gpu", rows_of("ab", range(600), step=15))
    history = history_of(tmp_path)
    assert (history.seconds.step, len(history.seconds)) == (15, 40)
    assert history.windows[Entity.GPU].observed.all()


def test_what_came_too_late_is_not_there(tmp_path: Path) -> None:
    rows = [row | {"arrived": moment(row_second(row) + 1.1)} for row in rows_of("abc", range(40))]
    rows[30]["arrived"] = moment(25.0)
    write_rows(describe(tmp_path, "abc"), "gpu", rows)
    observed = history_of(tmp_path).windows[Entity.GPU].observed[:, 0]
    assert [tuple(map(int, at)) for at in np.argwhere(~observed)] == [(0, 10)]


def test_a_node_that_left_keeps_its_past(tmp_path: Path) -> None:
    write_rows(describe(tmp_path), "gpu", rows_of("ab", range(60)))
    tell(tmp_path, 30, kind="membership", node="b", change="left")
    history = history_of(tmp_path)
    observed = history.windows[Entity.GPU].observed[:, 0]
    assert observed[0].all()
    assert observed[1, :26].all()
    assert not observed[1, 31:].any()
    assert history.nodes == (NodeName("a"), NodeName("b"))


def test_another_run_of_the_job_is_another_history(tmp_path: Path) -> None:
    write_rows(describe(tmp_path), "gpu", rows_of("ab", range(60)))
    tell(tmp_path, 40, kind="job_state", state="finished")
    tell(tmp_path, 41, kind="job_state", state="starting")
    first, second = histories_of(tmp_path)
    assert len(first.seconds) + len(second.seconds) == 60
    assert len(first.events) < len(second.events) == 2


def test_a_source_that_slows_down_begins_another_history(tmp_path: Path) -> None:
    rows = [*rows_of("ab", range(60)), *rows_of("ab", range(60, 360), step=15)]
    write_rows(describe(tmp_path), "gpu", rows)
    tell(tmp_path, 60, kind="job_state", state="training", sampling_seconds=15)
    assert [(one.seconds.step, len(one.seconds)) for one in histories_of(tmp_path)] == [
        (1, 60),
        (15, 20),
    ]


def test_a_recording_without_a_value_is_refused(tmp_path: Path) -> None:
    write_rows(describe(tmp_path), "gpu", [gpu_row(3, "a", power=math.nan)])
    with pytest.raises(RecordingFormatError, match="no value"):
        history_of(tmp_path)


def tell(folder: Path, second: int, **event: object) -> None:
    """Add an event to a recording."""
    line = json.dumps({"timestamp": moment(second).isoformat(), **event})
    with (folder / "events.jsonl").open("a") as file:
        file.write(line + "\n")


def row_second(row: dict[str, object]) -> float:
    stated = row["timestamp"]
    assert isinstance(stated, type(moment(0)))
    return stated.timestamp() - START
