"""Files of real sets that cannot be read: the message names the file, and what in it is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diagnosis.benchmark.real_sets.asd_made_up import write_asd
from paramedic.diagnosis.benchmark.real_sets.asd_reading import read_asd
from paramedic.diagnosis.benchmark.real_sets.errors import RealSetFormatError
from paramedic.diagnosis.benchmark.real_sets.evaluation import evaluate_real_sets
from paramedic.diagnosis.benchmark.real_sets.straggler_reading import read_trace
from paramedic.diagnosis.flight_recorder.errors import DumpFormatError
from paramedic.diagnosis.flight_recorder.reading import Pending, read_dumps

ENTRY = {"process_group": ["t0", ""], "collective_seq_id": 7, "state": "scheduled"}


def write_dump(folder: Path, text: str) -> Path:
    (folder / "rank03.json").write_text(text)
    return folder


def dump(*entries: object, **others: object) -> str:
    return json.dumps({"pg_config": {"t0": {"ranks": "[0, 3]"}}, "entries": entries, **others})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Expecting value"),
        ("[]", "list"),
        ('{"entries": []}', "pg_config"),
        ('{"pg_config": {}}', "entries"),
        (dump(pg_config={"t0": {}}), "ranks"),
        (dump(pg_config={"t0": {"ranks": "[0, x]"}}), "Expecting value"),
        (dump({**ENTRY, "process_group": []}), "index"),
        (dump({"process_group": ["t0"], "collective_seq_id": 7}), "state"),
        (dump({"process_group": ["t0"], "state": "scheduled"}), "collective_seq_id"),
        (dump(ENTRY, {**ENTRY, "collective_seq_id": "8"}), "not supported"),
    ],
)
def test_a_dump_that_cannot_be_read_is_named_with_what_is_wrong(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(DumpFormatError, match=rf"rank03\.json is no .*{words}"):
        read_dumps(write_dump(tmp_path, text))


def test_of_a_dump_only_what_is_not_completed_is_kept_and_not_what_two_say_to_each_other(
    tmp_path: Path,
) -> None:
    entries = (
        ENTRY, {**ENTRY, "collective_seq_id": 9}, {**ENTRY, "collective_seq_id": 8},
        {**ENTRY, "collective_seq_id": 3, "state": "completed"},
        {**ENTRY, "collective_seq_id": 99, "is_p2p": True},
    )  # fmt: skip
    (read,) = read_dumps(write_dump(tmp_path, dump(*entries)))
    assert read.rank == 3
    assert read.groups == {"t0": (0, 3)}
    assert read.pending == {"t0": Pending(oldest=7, newest=9)}


def test_dumps_are_in_the_order_of_their_ranks_and_not_of_their_names(tmp_path: Path) -> None:
    for name in ("rank10.json", "rank2.json", "rank001.json", "rank4.json.bak"):
        (tmp_path / name).write_text(dump())
    assert [one.rank for one in read_dumps(tmp_path)] == [1, 2, 10]


def edited_arrays(folder: Path, **changed: np.ndarray | None) -> Path:
    """The made-up set with arrays of its first server replaced, or left out."""
    path = write_asd(folder) / "asd_dev.npz"
    with np.load(path) as whole:
        arrays: dict[str, Any] = {name: whole[name] for name in whole.files}
    arrays.update({f"omi-1/{name}": array for name, array in changed.items()})
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return folder


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"train": None}, "omi-1/train"),
        ({"test": None}, "omi-1/test"),
        ({"label": None}, "omi-1/label"),
        ({"train": np.zeros(900)}, "index"),
        ({"test": np.zeros((200, 2))}, "shape"),
        ({"label": np.zeros(199)}, "shape"),
    ],
)
def test_an_array_that_is_absent_or_of_another_shape_is_told_with_its_file(
    tmp_path: Path, changed: dict[str, np.ndarray | None], words: str
) -> None:
    with pytest.raises(RealSetFormatError, match=rf"asd_dev\.npz: .*{words}"):
        read_asd(edited_arrays(tmp_path, **changed))


@pytest.mark.parametrize("content", [b"", b"no archive at all", b"PK\x03\x04 cut off"])
def test_an_archive_that_is_none_is_named(tmp_path: Path, content: bytes) -> None:
    (write_asd(tmp_path) / "asd_dev.npz").write_bytes(content)
    with pytest.raises(RealSetFormatError, match=r"asd_dev\.npz: ASD cannot be read"):
        read_asd(tmp_path)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("machine,start,event_class\nomi-1,3,solo\n", "'end'"),
        ("machine,start,end,event_class\nomi-1,3,many,solo\n", "'many'"),
        ("machine,start,end,event_class\nomi-1,3\n", "NoneType"),
    ],
)
def test_a_segment_that_cannot_be_read_is_told_with_its_file_and_not_the_archive(
    tmp_path: Path, table: str, words: str
) -> None:
    (write_asd(tmp_path) / "asd_dev_segments.csv").write_text(table)
    with pytest.raises(RealSetFormatError, match=rf"asd_dev_segments\.csv: .*{words}"):
        read_asd(tmp_path)


def test_a_broken_set_stops_and_is_not_taken_for_an_absent_one(tmp_path: Path) -> None:
    (write_asd(tmp_path) / "asd_dev.npz").write_bytes(b"")
    told: list[str] = []
    with pytest.raises(RealSetFormatError):
        list(evaluate_real_sets(tmp_path, told.append))
    assert told == []


TRACE: dict[str, list[Any]] = {
    "dp_rank": [0, 0, 1], "stage": [0, 0, 0], "step": [1, 1, 1],
    "optype": ["forward-compute", "backward-compute", "forward-compute"],
    "duration": [0.5, 0.25, 1.0],
}  # fmt: skip


@pytest.mark.parametrize(
    ("column", "values"), [("stage", ["a", "b", "c"]), ("duration", ["1 s", "2 s", "3 s"])]
)
def test_a_column_of_words_where_numbers_belong_is_named(
    tmp_path: Path, column: str, values: list[str]
) -> None:
    pq.write_table(pa.table({**TRACE, column: values}), tmp_path / "trace-AR.parquet")
    with pytest.raises(RealSetFormatError, match=rf"trace-AR\.parquet .*{column}: string"):
        read_trace(tmp_path, "AR")


def test_what_a_worker_did_in_a_step_is_added_up_and_a_gap_is_unknown(tmp_path: Path) -> None:
    later = {name: [*those, those[0]] for name, those in TRACE.items()} | {"step": [1, 1, 1, 2]}
    pq.write_table(pa.table(later), tmp_path / "trace-AR.parquet")
    trace = read_trace(tmp_path, "AR")
    np.testing.assert_array_equal(trace.compute_seconds, [[0.75, 1.0], [0.5, np.nan]])
