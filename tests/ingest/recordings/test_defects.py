"""Every defect of a recording is one clear line: which file, column and row, and what to do."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ingest.recordings.recorded import (
    batches_of,
    describe,
    gpu_row,
    moment,
    write_events,
    write_rows,
    write_table,
)
from paramedic.ingest.recordings.columns_of_file import unreadable
from paramedic.ingest.recordings.errors import RecordingFormatError
from paramedic.ingest.recordings.reading import open_recording

Break = Callable[[Path], object]
ENDLESS = "[" * 100_000
TIMES = [moment(0), moment(1)]
KEYS = {"timestamp": TIMES, "node": ["a", "b"], "gpu": [0, 1], "gpu_power_watts": [1.0, 2.0]}


def whole(folder: Path) -> Path:
    """A recording without a fault."""
    write_rows(describe(folder), "gpu", [gpu_row(0), gpu_row(1)])
    return folder


def told(folder: Path) -> str:
    """The error about a recording, its folder left out."""
    with pytest.raises(RecordingFormatError) as caught:
        open_recording(folder)
    text = str(caught.value)
    assert "\n" not in text
    return text.replace(str(folder), "R")


def without(column: str) -> Break:
    return lambda folder: write_table(
        folder, "gpu", {name: values for name, values in KEYS.items() if name != column}
    )


def having(**columns: object) -> Break:
    return lambda folder: write_table(folder, "gpu", KEYS | columns)


@pytest.mark.parametrize(
    ("break_it", "line"),
    [
        (without("gpu"), "R/gpu.parquet: column gpu is missing; there are timestamp, node"),
        (without("timestamp"), "R/gpu.parquet: column timestamp is missing"),
        (
            having(timestamp=["2026-01-01", "2026-01-02"]),
            "R/gpu.parquet: column timestamp is string, it must be a datetime in UTC",
        ),
        (
            having(timestamp=[1767225600.0, 1767225601.0]),
            "R/gpu.parquet: column timestamp is double, it must be a datetime in UTC",
        ),
        (
            having(node=["a", ""]),
            "R/gpu.parquet: column node, row 1 (counted from 0): an empty name: name the node",
        ),
        (having(node=[1, 2]), "R/gpu.parquet: column node is int64, it must be a string"),
        (having(gpu=["0", "1"]), "R/gpu.parquet: column gpu is string, it must be a whole number"),
        (
            having(gpu=[0, None]),
            "R/gpu.parquet: column gpu, row 1 (counted from 0): no value, every row needs one",
        ),
        (
            having(gpu=[0.0, 1.5]),
            "R/gpu.parquet: column gpu, row 1 (counted from 0): 1.5 is no whole number",
        ),
        (
            having(gpu=[-1, 0]),
            "R/gpu.parquet: column gpu, row 0 (counted from 0): -1 is no whole number of 0 or more",
        ),
        (
            having(node=pa.array([None, "b"])),
            "R/gpu.parquet: column node, row 0 (counted from 0): no value",
        ),
        (
            having(timestamp=pa.array([moment(0), None])),
            "R/gpu.parquet: column timestamp, row 1 (counted from 0): no value",
        ),
        (
            having(arrived=["soon", "later"]),
            "R/gpu.parquet: column arrived is string, it must be a datetime in UTC",
        ),
        (
            having(generation=[0, -2]),
            "R/gpu.parquet: column generation, row 1 (counted from 0): -2 is no whole number",
        ),
        (
            lambda folder: (folder / "gpu.parquet").write_bytes(b"PAR1 and no more"),
            "R/gpu.parquet is no Parquet file, or a part of one",
        ),
        (
            lambda folder: (folder / "gpu.parquet").unlink(),
            "R holds no telemetry: neither node.parquet nor gpu.parquet nor rank.parquet has a row",
        ),
        (
            lambda folder: write_events(folder, "{", {"kind": "xid"}),
            "R/events.jsonl: line 1 is no JSON object: correct it",
        ),
        (
            lambda folder: write_events(folder, ENDLESS),
            "R/events.jsonl: line 1 is nested without end: correct it",
        ),
        (
            lambda folder: (folder / "job.json").write_text(ENDLESS),
            "R/job.json is not JSON: maximum recursion depth exceeded",
        ),
        (
            lambda folder: write_events(folder, {"kind": "xid"}),
            "R/events.jsonl: line 1: not an event: ",
        ),
        (
            lambda folder: write_events(folder, {"kind": "xid", "timestamp": "noon"}),
            "R/events.jsonl: line 1: timestamp 'noon' is no time: write it as 2026-",
        ),
        (
            lambda folder: write_events(
                folder, {"timestamp": "2026-01-01T00:00:00Z", "kind": "xid", "gpu": "three"}
            ),
            "R/events.jsonl: line 1: not an event: ",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_one_line(tmp_path: Path, break_it: Break, line: str) -> None:
    break_it(whole(tmp_path))
    assert told(tmp_path).startswith(line)


def test_a_row_is_counted_over_all_row_groups(tmp_path: Path) -> None:
    rows = [gpu_row(second) for second in range(7)]
    rows[5]["gpu"] = None
    write_rows(describe(tmp_path), "gpu", rows, row_group_size=2)
    assert "column gpu, row 5 (counted from 0)" in told(tmp_path)


def test_a_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    table = pa.table([pa.array(TIMES), pa.array(["a", "b"]), pa.array([1.0, 2.0])] * 2,
                     names=["timestamp", "node", "x", "y", "z", "x"])  # fmt: skip
    pq.write_table(table, describe(tmp_path) / "node.parquet")
    assert told(tmp_path) == "R/node.parquet: column x is there twice: keep one of them"


def damaged(path: Path, column: str, row_group: int = 0) -> None:
    """Turn some bytes of a column over, as a bad disk or a broken copy would."""
    metadata = pq.read_metadata(path).row_group(row_group)
    at = next(
        chunk
        for chunk in map(metadata.column, range(metadata.num_columns))
        if chunk.path_in_schema == column
    )
    start, size = at.dictionary_page_offset or at.data_page_offset, at.total_compressed_size
    content = bytearray(path.read_bytes())
    for place in range(start + size // 3, start + size):
        content[place] ^= 0xFF
    path.write_bytes(content)


def with_two_metrics(folder: Path) -> Path:
    rows = [gpu_row(second) | {"gpu_temperature_celsius": 50.0 + second} for second in range(8)]
    return write_rows(describe(folder), "gpu", rows, row_group_size=4)


def test_a_damaged_metric_is_left_out_as_a_whole_and_told(tmp_path: Path) -> None:
    damaged(with_two_metrics(tmp_path), "gpu_power_watts", row_group=1)
    (remark,) = open_recording(tmp_path).remarks
    assert re.fullmatch(
        r"gpu\.parquet: column gpu_power_watts is damaged in row group 1 \(.+\): it is left out",
        remark,
    )
    columns = [set(batch.tables[0].columns) for batch in batches_of(tmp_path)]
    assert columns == [{"gpu_temperature_celsius"}] * 8, "no hole that looks like a dead sensor"


@pytest.mark.parametrize("column", ["timestamp", "node", "gpu"])
def test_a_damaged_key_is_refused_because_no_row_can_be_used(tmp_path: Path, column: str) -> None:
    damaged(with_two_metrics(tmp_path), column)
    assert re.match(
        rf"R/gpu\.parquet: column {column} is damaged in row group 0 \(", told(tmp_path)
    )


def test_bytes_that_the_system_does_not_give_are_not_said_to_be_damaged() -> None:
    denied = unreadable("R/gpu.parquet", PermissionError(errno.EACCES, "Failed to open local file"))
    assert str(denied) == (
        "R/gpu.parquet cannot be read: Permission denied: see that you may read it, or move it away"
        " to do without it"
    )
    broken = unreadable("R/gpu.parquet", OSError("Couldn't deserialize thrift: TProtocolException"))
    assert "is no Parquet file, or a part of one (Couldn't deserialize thrift" in str(broken)


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = with_two_metrics(tmp_path)
    path.write_bytes(path.read_bytes()[:-100])
    assert "is no Parquet file, or a part of one" in told(tmp_path)


def test_a_column_of_text_is_left_out_and_told(tmp_path: Path) -> None:
    having(comment=["fine", "hot"])(describe(tmp_path))
    assert open_recording(tmp_path).remarks == [
        "gpu.parquet: column comment holds string, no numbers: it is left out"
    ]
    assert set(batches_of(tmp_path)[0].tables[0].columns) == {"gpu_power_watts"}


def test_events_that_cannot_be_used_are_left_out_and_told(tmp_path: Path) -> None:
    at = {"timestamp": "2026-01-01T00:00:00"}
    write_events(
        whole(tmp_path),
        at | {"kind": "maintenance"},
        at | {"kind": "eclipse"},
        at | {"kind": "xid", "job": "another"},
        "",
        '{"timestamp": "2026-01-01T00:00:00Z", "ki',
    )
    assert open_recording(tmp_path).remarks == [
        "events.jsonl: the last line is cut off and left out",
        "events.jsonl: 1 event of an unknown kind is left out",
        "events.jsonl: 1 event of another job is left out",
    ]
