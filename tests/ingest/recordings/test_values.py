"""What the columns of a recording may be, and what becomes of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ingest.recordings.recorded import (
    START,
    batches_of,
    describe,
    gpu_row,
    moment,
    write_rows,
    write_table,
)
from paramedic.ingest.contract import Entity
from paramedic.ingest.recordings.reading import open_recording

SECONDS = [moment(0), moment(1)]
KEYS = {"timestamp": SECONDS, "node": ["a", "a"], "gpu": [0, 0]}


@pytest.mark.parametrize(
    "column",
    [
        pa.array([2.0, 3.0], pa.float16()),
        pa.array([2.0, 3.0], pa.float32()),
        pa.array([2.0, 3.0], pa.float64()),
        pa.array([2, 3], pa.int8()),
        pa.array([2, 3], pa.uint64()),
        pa.array([Decimal("2.0"), Decimal("3.0")]),
        pa.chunked_array([[2.0], [3.0]]),
    ],
    ids=str,
)
def test_numbers_of_every_kind_are_taken(tmp_path: Path, column: pa.Array) -> None:
    write_table(describe(tmp_path), "gpu", KEYS | {"gpu_power_watts": column})
    values = [batch.tables[0].columns["gpu_power_watts"][0] for batch in batches_of(tmp_path)]
    assert values == [2.0, 3.0]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([None, 3.0], pa.float32()),
        pa.array([None, 3], pa.int64()),
        pa.array([float("nan"), 3.0]),
    ],
    ids=str,
)
def test_null_and_nan_are_not_observed(tmp_path: Path, column: pa.Array) -> None:
    write_table(describe(tmp_path), "gpu", KEYS | {"gpu_power_watts": column, "x": [1.0, 1.0]})
    first, second = (batch.tables[0].columns for batch in batches_of(tmp_path))
    assert set(first) == {"x"}, "a metric that nobody observed is no column"
    assert second["gpu_power_watts"][0] == 3.0


@pytest.mark.parametrize("huge", [float("inf"), float("-inf"), 1e300])
def test_what_is_too_large_for_a_sensor_is_not_observed_and_told_once(
    tmp_path: Path, huge: float
) -> None:
    columns = {"gpu_power_watts": [huge, 3.0], "x": [huge, huge], "y": [1.0, 2.0], "z": [None, 5]}
    write_table(describe(tmp_path), "gpu", KEYS | columns)
    recording = open_recording(tmp_path)
    (told,) = recording.remarks
    assert told.startswith("gpu.parquet: 3 values infinite or too large, taken for not observed:")
    assert told.endswith(": 2 of x, 1 of gpu_power_watts")
    first, second = (batch.tables[0].columns for batch in batches_of(tmp_path))
    assert set(first) == {"y"}
    assert set(second) == {"gpu_power_watts", "y", "z"}


def test_what_a_training_calls_infinite_is_so(tmp_path: Path) -> None:
    row = {"timestamp": moment(0), "node": "a", "rank": 0, "loss": float("inf")}
    write_rows(describe(tmp_path, nodes=()), "rank", [row])
    assert not any("too large" in one for one in open_recording(tmp_path).remarks)
    assert batches_of(tmp_path)[0].tables[0].columns["loss"][0] == float("inf")


@pytest.mark.parametrize(
    "column",
    [
        pa.array(SECONDS, pa.timestamp("s", tz="UTC")),
        pa.array(SECONDS, pa.timestamp("ms", tz="UTC")),
        pa.array(SECONDS, pa.timestamp("ns", tz="UTC")),
        pa.array(SECONDS, pa.timestamp("us", tz="America/New_York")),
        pa.array([one.replace(tzinfo=None) for one in SECONDS], pa.timestamp("us")),
        pa.array([one.astimezone(timezone(timedelta(hours=5, minutes=30))) for one in SECONDS]),
    ],
    ids=str,
)
def test_times_of_every_unit_and_zone_mean_the_same_and_no_zone_is_utc(
    tmp_path: Path, column: pa.Array
) -> None:
    write_table(describe(tmp_path), "gpu", KEYS | {"timestamp": column, "m": [1.0, 2.0]})
    assert [batch.second for batch in batches_of(tmp_path)] == [START, START + 1]


@pytest.mark.parametrize(
    "nodes",
    [
        pa.array(["a", "a"], pa.large_string()),
        pa.array(["a", "a"], pa.string_view()),
        pa.array(["a", "a"]).dictionary_encode(),
    ],
    ids=str,
)
def test_node_names_may_be_any_kind_of_text(tmp_path: Path, nodes: pa.Array) -> None:
    write_table(describe(tmp_path), "gpu", KEYS | {"node": nodes, "m": [1.0, 2.0]})
    assert [batch.tables[0].nodes for batch in batches_of(tmp_path)] == [("a",), ("a",)]


def test_gpu_numbers_that_pandas_has_made_floats_are_whole_numbers(tmp_path: Path) -> None:
    write_table(describe(tmp_path), "gpu", KEYS | {"gpu": [7.0, 7.0], "m": [1.0, 2.0]})
    assert [batch.tables[0].indices for batch in batches_of(tmp_path)] == [(7,), (7,)]


def test_an_index_column_of_pandas_is_no_metric_and_an_unknown_metric_is_one(
    tmp_path: Path,
) -> None:
    columns = {"__index_level_0__": [0, 1], "acme_widget_ratio": [0.5, 0.6]}
    write_table(describe(tmp_path), "gpu", KEYS | columns)
    assert {m for batch in batches_of(tmp_path) for m in batch.tables[0].columns} == {
        "acme_widget_ratio"
    }


def test_a_heart_beat_keeps_its_fractions_of_a_second(tmp_path: Path) -> None:
    beat = START + 0.125
    row = {"timestamp": moment(0), "node": "a", "rank": 0, "heartbeat": beat}
    write_rows(describe(tmp_path), "rank", [row])
    assert batches_of(tmp_path)[0].tables[0].columns["heartbeat"][0] == beat


def test_the_last_of_rows_that_repeat_each_other_holds_and_they_are_counted(tmp_path: Path) -> None:
    rows = [gpu_row(0, power=1.0), gpu_row(0, "b"), gpu_row(0, power=2.0), gpu_row(0, power=3.0)]
    write_rows(describe(tmp_path), "gpu", rows, row_group_size=1)
    recording = open_recording(tmp_path)
    (one,) = recording.moments()
    assert not hasattr(one.fact, "kind")
    (batch,) = batches_of(tmp_path)
    assert batch.tables[0].nodes == ("a", "b")
    assert batch.tables[0].columns["gpu_power_watts"][0] == 3.0
    assert recording.repeated_rows == 2


def test_rows_that_say_different_things_of_one_machine_complete_each_other(tmp_path: Path) -> None:
    rows = [gpu_row(0, power=1.0), gpu_row(0, power=None) | {"x": 5.0}]
    write_rows(describe(tmp_path), "gpu", [row | {"x": row.get("x")} for row in rows])
    recording = open_recording(tmp_path)
    list(recording.moments())
    columns = batches_of(tmp_path)[0].tables[0].columns
    assert (columns["gpu_power_watts"][0], columns["x"][0]) == (1.0, 5.0)
    assert recording.repeated_rows == 0


def test_generations_of_ranks_are_told_apart(tmp_path: Path) -> None:
    rows = [
        {"timestamp": moment(s), "node": "a", "rank": 0, "generation": g, "step": 1.0}
        for s, g in ((0, 0), (1, 0), (1, 1), (2, 1), (3, None))
    ]
    write_rows(describe(tmp_path), "rank", rows)
    seen = [(batch.second - START, batch.generation) for batch in batches_of(tmp_path)]
    assert seen == [(0, 0), (1, 0), (1, 1), (2, 1), (3, 0)]


def test_gpu_rows_are_of_the_generation_that_had_begun_by_then(tmp_path: Path) -> None:
    describe(tmp_path)
    ranks = [
        {"timestamp": moment(s), "node": "a", "rank": 0, "generation": g, "step": 1.0}
        for s, g in ((0, 0), (2, 1), (4, 2), (5, 1))
    ]
    write_rows(tmp_path, "rank", ranks)
    write_rows(tmp_path, "gpu", [gpu_row(second) for second in range(6)])
    of_gpus = [
        batch.generation
        for batch in batches_of(tmp_path)
        if any(table.entity is Entity.GPU for table in batch.tables)
    ]
    assert of_gpus == [0, 0, 1, 1, 2, 2]


def test_a_file_without_rows_and_files_that_are_not_there_say_nothing(tmp_path: Path) -> None:
    describe(tmp_path)
    write_rows(tmp_path, "gpu", [gpu_row(0)])
    empty = pa.schema([("timestamp", pa.timestamp("us", "UTC")), ("node", pa.string())])
    pq.write_table(empty.empty_table(), tmp_path / "node.parquet")
    assert [table.entity for table in batches_of(tmp_path)[0].tables] == [Entity.GPU]
    assert open_recording(tmp_path).remarks == []


def test_a_node_that_the_job_does_not_list_is_taken_in_and_told(tmp_path: Path) -> None:
    write_rows(describe(tmp_path), "gpu", [gpu_row(0, name) for name in "abcdefg"])
    assert open_recording(tmp_path).remarks == [
        "job.json does not list c, d, e and 2 more: taken in without roles"
    ]
    assert batches_of(tmp_path)[0].tables[0].nodes == tuple("abcdefg")


def test_a_table_that_the_job_speaks_of_and_that_is_not_there_is_told(tmp_path: Path) -> None:
    ranks = [{"rank": rank, "node": "a"} for rank in range(3)]
    node_row = {"timestamp": moment(0), "node": "a", "load_average": 1.0}
    write_rows(describe(tmp_path, ranks=ranks), "node", [node_row])
    missed = "is absent, or has no row, although job.json lists"
    assert open_recording(tmp_path).remarks == [
        f"gpu.parquet {missed} 16 GPUs: what needs it is not judged",
        f"rank.parquet {missed} 3 ranks: what needs it is not judged",
    ]
    write_rows(tmp_path, "gpu", [gpu_row(0)])
    (remark,) = open_recording(tmp_path).remarks
    assert remark.startswith("rank.parquet")


def test_what_is_known_before_it_is_read(tmp_path: Path) -> None:
    write_rows(describe(tmp_path), "gpu", [gpu_row(second) for second in (5, 2, 9)])
    recording = open_recording(tmp_path)
    assert (recording.rows, recording.seconds) == (3, range(START + 2, START + 10))


def test_times_before_1970_do_not_break_anything(tmp_path: Path) -> None:
    early = datetime(1969, 12, 31, 23, 59, 58, 500_000, tzinfo=UTC)
    write_rows(describe(tmp_path), "gpu", [gpu_row(0) | {"timestamp": early}])
    assert [batch.second for batch in batches_of(tmp_path)] == [-2]
