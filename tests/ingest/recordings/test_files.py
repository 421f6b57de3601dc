"""The files of a recording: parts, wholes, events; and recordings of the synthetic cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.recordings.recorded import JOB, START, batches_of, moments_of
from paramedic.ingest.contract import Entity, Event, EventKind, NodeName, TelemetryBatch
from paramedic.ingest.recordings.events_file import EventsFile
from paramedic.ingest.recordings.events_reading import read_events
from paramedic.ingest.recordings.joining import join, write_whole
from paramedic.ingest.recordings.layout import files_of, held_parts, holding
from paramedic.ingest.recordings.moment import MICROSECONDS, HeardEvent
from paramedic.ingest.recordings.reading import open_recording
from paramedic.ingest.recordings.row_group import Whole
from paramedic.ingest.recordings.rows import RowReader
from paramedic.ingest.recordings.shelves import folder_name
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.recording import record, stamped

moments = st.integers(0, 10**9).map(lambda at: datetime.fromtimestamp(START, UTC) + timedelta(
    microseconds=at
))  # fmt: skip
events = st.builds(
    Event,
    moments,
    st.sampled_from(EventKind),
    st.just(JOB),
    st.none() | st.sampled_from([NodeName("a"), NodeName("b")]),
    st.none() | st.integers(0, 7),
    st.none() | st.integers(0, 99),
    st.none() | st.integers(0, 3),
    st.dictionaries(st.sampled_from(["state", "xid", "by"]), st.text(max_size=5) | st.integers()),
)
heard = st.none() | st.integers(START * MICROSECONDS, (START + 999) * MICROSECONDS)


@pytest.mark.long
@given(told=st.lists(st.tuples(events, heard), max_size=6))
def test_events_are_read_as_they_were_written_in_the_order_they_were_heard_of(
    told: list[tuple[Event, int | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("events")
    file = EventsFile(folder / "events.jsonl")
    for event, at in told:
        file.append(event, None if at is None else at / MICROSECONDS)
    read = read_events(folder, JOB)
    expected = [HeardEvent(event, at) for event, at in told]
    assert read.events == sorted(expected, key=lambda one: one.arrived)
    assert (read.remarks, file.events) == ([], len(told))


def table(**columns: list[float]) -> pa.Table:
    return pa.table({name: pa.array(values, pa.float32()) for name, values in columns.items()})


def test_files_with_different_columns_become_one(tmp_path: Path) -> None:
    for name, one in (("x", table(a=[1.0], b=[2.0])), ("y", table(c=[3.0], b=[4.0]))):
        write_whole(one, tmp_path / name)
    assert join([tmp_path / "x", tmp_path / "y"], tmp_path / "z", holding(2)) == 2
    assert pq.read_table(tmp_path / "z").to_pylist() == [
        {"a": 1.0, "b": 2.0, "c": None}, {"a": None, "b": 4.0, "c": 3.0}
    ]  # fmt: skip
    assert held_parts(tmp_path / "z") == 2
    assert held_parts(tmp_path / "x") == 0


def test_many_small_row_groups_become_few(tmp_path: Path) -> None:
    parts = [tmp_path / f"{number}" for number in range(20)]
    for part in parts:
        write_whole(table(a=[1.0, 2.0]), part)
    join(parts, tmp_path / "whole", {})
    assert pq.read_metadata(tmp_path / "whole").num_row_groups == 1


def test_a_join_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    write_whole(table(a=[1.0]), tmp_path / "x")

    def refuse(group: pa.Table) -> pa.Table:
        raise OSError(f"{group.num_rows} rows are too many")

    with pytest.raises(OSError, match="1 rows are too many"):
        join([tmp_path / "x"], tmp_path / "whole", {}, refuse)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x"]


def test_parts_come_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for name in ("gpu-000010", "gpu-000002", "gpu-1000000", "node-000001", "gpu-extra"):
        write_whole(table(a=[1.0]), tmp_path / "parts" / f"{name}.parquet")
    names = [path.stem for path in files_of(tmp_path, Entity.GPU)]
    assert names == ["gpu-000002", "gpu-000010", "gpu-1000000"]


@given(st.text(min_size=1, max_size=20).filter(lambda name: name.isprintable()))
def test_every_job_has_a_folder_name_of_its_own(name: str) -> None:
    folder = folder_name(type(JOB)(name))
    assert "/" not in folder
    assert folder not in ("", ".", "..")


def generation_by_hand(begun: Mapping[int, int], second: int) -> int:
    """The newest generation that had begun by this second."""
    return max((number for number, first in begun.items() if first <= second), default=0)


@given(begun=st.dictionaries(st.integers(0, 4), st.integers(0, 9)))
def test_a_second_belongs_to_the_newest_generation_that_had_begun(begun: dict[int, int]) -> None:
    reader = RowReader(Entity.GPU, (), {}, begun)
    seconds: Whole = np.arange(10)
    assert reader._of(seconds).tolist() == [generation_by_hand(begun, s) for s in range(10)]


@pytest.fixture(scope="module")
def small_cluster() -> SyntheticCluster:
    config = ClusterConfig(job=JOB, seed=3)
    shape = replace(config.shape, nodes=4, gpus=2, pipeline_stages=2)
    return SyntheticCluster(replace(config, shape=shape))


def test_a_recording_of_the_synthetic_cluster_is_read_as_it_was_played(
    small_cluster: SyntheticCluster, tmp_path: Path
) -> None:
    """Each second's values and roles; how the rows arrived is the order they are read in."""
    record(small_cluster, tmp_path / "r", tmp_path / "labels.json", 12)
    recording = open_recording(tmp_path / "r")
    assert recording.job == small_cluster.job
    (remark,) = recording.remarks
    assert remark.startswith("rank.parquet is absent"), "the cluster is machines alone"
    played = {
        key: value
        for second in small_cluster.seconds(0, 12)
        for batch in stamped(second)
        for key, value in cells(batch).items()
    }
    read = [cells(batch) for batch in batches_of(tmp_path / "r")]
    assert sum(map(len, read)) == len(played), "nothing is there twice"
    assert {key: value for batch in read for key, value in batch.items()} == played
    arrivals = [one.arrived for one in moments_of(tmp_path / "r")]
    assert arrivals == sorted(arrivals)


def cells(batch: TelemetryBatch) -> dict[object, float]:
    """Every value that was observed, as precise as a recording keeps it."""
    found: dict[object, float] = {}
    for one in batch.tables:
        kind = np.float64 if one.entity is Entity.RANK else np.float32
        for metric, column in one.columns.items():
            numbers = np.asarray(column, np.float64).astype(kind).tolist()
            indices = one.indices or (None,) * len(one.nodes)
            for node, index, value in zip(one.nodes, indices, numbers, strict=True):
                if value == value:
                    found[batch.second, one.entity, node, index, metric] = value
    return found
