"""Folders with names that are no text, and folders in which something lies already."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ingest.recordings.recorded import JOB, START, batch, batches_of
from paramedic.ingest.recordings.cutting import Stretch, cut
from paramedic.ingest.recordings.errors import RecordingExistsError
from paramedic.ingest.recordings.portrait import Portrait
from paramedic.ingest.recordings.writing import RecordingWriter

NO_UTF_8 = os.fsdecode(b"r\xff")


def record(folder: Path) -> None:
    known = Portrait(JOB)
    known.see(batch(0, {"a": 1.0}))
    with RecordingWriter(folder, known.description(), rows_a_group=1) as writer:
        for second in range(2):
            writer.append(batch(second, {"a": 1.0}))


def test_a_folder_whose_name_is_no_utf_8_is_written_read_and_cut(tmp_path: Path) -> None:
    record(tmp_path / NO_UTF_8)
    assert [one.second - START for one in batches_of(tmp_path / NO_UTF_8)] == [0, 1]
    target = tmp_path / f"cut-{NO_UTF_8}"
    assert cut(tmp_path / NO_UTF_8, target, Stretch(), None).rows == 2
    assert [one.second - START for one in batches_of(target)] == [0, 1]


@pytest.mark.parametrize("name", ["job.json", "gpu.parquet", "events.jsonl", "parts/x.parquet"])
def test_a_part_of_another_recording_is_never_written_over(tmp_path: Path, name: str) -> None:
    (tmp_path / "r" / name).parent.mkdir(parents=True)
    (tmp_path / "r" / name).write_text("x")
    with pytest.raises(RecordingExistsError, match=r"holds a recording already.*remove it first"):
        record(tmp_path / "r")
    assert (tmp_path / "r" / name).read_text() == "x"


def test_what_a_start_on_a_full_disk_leaves_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "r/parts").mkdir(parents=True)
    (tmp_path / "r/events.jsonl").touch()
    (tmp_path / "r/notes.txt").write_text("of somebody")
    record(tmp_path / "r")
    assert len(batches_of(tmp_path / "r")) == 2
