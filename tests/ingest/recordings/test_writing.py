"""What is written can be read back: rows, absences, times, events, and metrics that come later."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)
from paramedic.ingest.recordings.description import JobDescription, NodeRoles
from paramedic.ingest.recordings.errors import RecordingExistsError, RecordingWriteError
from paramedic.ingest.recordings.writing import RecordingWriter

JOB = JobDescription(JobName("j"), 1.0, (NodeRoles(NodeName("a"), 1), NodeRoles(NodeName("b"), 1)))
SECOND = 1_767_225_600


def batch(
    entity: Entity,
    columns: Mapping[str, Sequence[float]],
    second: int = SECOND,
    generation: int = 0,
) -> TelemetryBatch:
    nodes = tuple(NodeName(name) for name in "ab")
    indices = None if entity is Entity.NODE else (0, 7)
    whole = {metric: tuple(column) for metric, column in columns.items()}
    return TelemetryBatch(JOB.job, generation, second, (Table(entity, nodes, indices, whole),))


def rows(folder: Path, entity: str) -> list[dict[str, object]]:
    read: list[dict[str, object]] = pq.read_table(folder / f"{entity}.parquet").to_pylist()
    return read


def test_gpu_rows_have_time_node_index_arrival_and_null_for_what_is_absent(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "r", JOB) as writer:
        writer.append(
            batch(Entity.GPU, {"gpu_power_watts": (1.5, math.nan)}), arrived=SECOND + 1.25
        )
    moment = datetime.fromtimestamp(SECOND, UTC)
    arrived = datetime.fromtimestamp(SECOND + 1.25, UTC)
    assert rows(tmp_path / "r", "gpu") == [
        {"timestamp": moment, "node": "a", "arrived": arrived, "gpu": 0, "gpu_power_watts": 1.5},
        {"timestamp": moment, "node": "b", "arrived": arrived, "gpu": 7, "gpu_power_watts": None},
    ]


def test_values_are_float32_and_a_rank_s_are_wide_enough_for_a_time(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "r", JOB) as writer:
        writer.append(batch(Entity.NODE, {"load_average": (1.0, 2.0)}))
        writer.append(batch(Entity.RANK, {"heartbeat": (SECOND + 0.5, 0.0)}, generation=3))
    assert str(pq.read_schema(tmp_path / "r/node.parquet").field("load_average").type) == "float"
    rank = rows(tmp_path / "r", "rank")[0]
    assert (rank["rank"], rank["generation"], rank["heartbeat"]) == (0, 3, SECOND + 0.5)


def test_each_node_may_arrive_at_a_time_of_its_own(tmp_path: Path) -> None:
    arrived = {NodeName("a"): SECOND + 1.0, NodeName("b"): SECOND + 6.0}
    with RecordingWriter(tmp_path / "r", JOB) as writer:
        writer.append(batch(Entity.NODE, {"load_average": (1.0, 2.0)}), arrived)
        writer.append(batch(Entity.NODE, {"load_average": (1.0, 2.0)}))
    times = [row["arrived"] for row in rows(tmp_path / "r", "node")]
    assert times == [
        datetime.fromtimestamp(SECOND + 1, UTC), datetime.fromtimestamp(SECOND + 6, UTC), None, None
    ]  # fmt: skip


@settings(max_examples=8)
@given(
    seconds=st.lists(
        st.dictionaries(st.sampled_from(["m", "n", "o"]), st.floats(0, 9), min_size=1),
        min_size=1,
        max_size=5,
    ),
    group=st.integers(1, 6),
)
def test_metrics_that_come_later_become_columns_of_the_same_file(
    seconds: list[dict[str, float]], group: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("later") / "r"
    with RecordingWriter(folder, JOB, rows_a_group=group) as writer:
        for at, columns in enumerate(seconds):
            whole = {metric: (value, 1.0) for metric, value in columns.items()}
            writer.append(batch(Entity.NODE, whole, SECOND + at))
    known = {metric for columns in seconds for metric in columns}
    read = rows(folder, "node")
    assert len(read) == 2 * len(seconds)
    for row, columns in zip(read[::2], seconds, strict=True):
        assert {metric: row[metric] for metric in known} == {
            metric: pytest.approx(columns[metric], rel=1e-6) if metric in columns else None
            for metric in known
        }
    assert sorted(file.name for file in folder.iterdir()) == [
        "events.jsonl", "job.json", "node.parquet"
    ]  # fmt: skip


def test_events_are_a_line_each_and_the_job_is_described(tmp_path: Path) -> None:
    moment = datetime.fromtimestamp(SECOND, UTC)
    event = Event(moment, EventKind.XID, JOB.job, NodeName("a"), gpu=3, details={"xid": 79})
    with RecordingWriter(tmp_path / "r", JOB) as writer:
        writer.event(event)
        writer.event(event)
    lines = (tmp_path / "r/events.jsonl").read_text().splitlines()
    assert [Event.from_json(line.encode()) for line in lines] == [event, event]
    assert json.loads((tmp_path / "r/job.json").read_text()) == {
        "schema": 1,
        "job": "j",
        "sampling_seconds": 1.0,
        "nodes": [{"name": "a", "gpus": 1}, {"name": "b", "gpus": 1}],
    }


def test_nothing_to_write_leaves_no_empty_tables(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r", JOB)
    writer.close()
    writer.close()
    assert sorted(file.name for file in (tmp_path / "r").iterdir()) == ["events.jsonl", "job.json"]


def test_a_recording_is_never_written_over(tmp_path: Path) -> None:
    RecordingWriter(tmp_path / "r", JOB).close()
    with pytest.raises(RecordingExistsError, match="name another folder"):
        RecordingWriter(tmp_path / "r", JOB)


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingWriteError, match="cannot be written"):
        RecordingWriter(tmp_path / "file" / "r", JOB)


def test_a_disk_that_is_full_is_one_clear_error(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r", JOB, rows_a_group=5)
    (tmp_path / "r/parts/.node-000000.parquet.draft").symlink_to("/dev/full")
    writer.append(batch(Entity.NODE, {"load_average": (1.0, 2.0)}))
    with pytest.raises(RecordingWriteError, match="No space left"):
        writer.close()
