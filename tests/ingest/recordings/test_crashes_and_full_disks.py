"""A recording can be read at any time, whatever became of whoever wrote it, or of the disk."""

from __future__ import annotations

import errno
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ingest.recordings.recorded import (
    JOB,
    START,
    batch,
    batches_of,
    event,
    moments_of,
    said,
)
from paramedic.ingest.contract import Entity, Event, TelemetryBatch
from paramedic.ingest.recordings.errors import RecordingWriteError
from paramedic.ingest.recordings.joining import write_whole
from paramedic.ingest.recordings.portrait import Portrait
from paramedic.ingest.recordings.reading import open_recording
from paramedic.ingest.recordings.recorder import Recorder
from paramedic.ingest.recordings.shelves import status_of
from paramedic.ingest.recordings.writing import RecordingWriter


class Disk:
    """A disk that can be filled and emptied, has room for small tables alone, or for some rows."""

    def __init__(self, most_rows: int = 10**9, room_for_rows: int = 10**9) -> None:
        self.is_full = False
        self._most_rows = most_rows
        self._room_for_rows = room_for_rows

    def write(self, table: pa.Table, path: Path) -> None:
        held = sum(pq.read_metadata(part).num_rows for part in path.parent.glob("*.parquet"))
        is_room = held + table.num_rows <= self._room_for_rows
        if self.is_full or not is_room or table.num_rows > self._most_rows:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_whole(table, path)


def portrait() -> Portrait:
    known = Portrait(JOB)
    known.see(batch(0, {"a": 1.0, "b": 1.0}))
    return known


def writer_of(folder: Path, rows_a_group: int = 100) -> RecordingWriter:
    return RecordingWriter(folder, portrait().description(), rows_a_group)


def seconds_of(folder: Path) -> list[int]:
    return [one.second - START for one in batches_of(folder)]


@pytest.mark.parametrize("group", [1, 4, 7])
def test_parts_and_the_whole_say_the_same(group: int, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    writer = writer_of(folder, group)
    for second in range(6):
        writer.append(batch(second, {"a": float(second), "b": 0.0}), START + second + 1.25)
        writer.append(batch(second, {"a": 1.0}, f"m{second % 3}", Entity.GPU), START + second + 1.5)
        writer.event(event(second + 0.5, number=second), START + second + 0.75)
    writer.flush()
    before = said(moments_of(folder))
    assert len([one for one in moments_of(folder) if isinstance(one.fact, Event)]) == 6
    writer.close()
    assert not (folder / "parts").exists()
    assert said(moments_of(folder)) == before
    assert seconds_of(folder) == list(range(6))


def test_parts_that_were_not_cleared_away_are_not_read_twice(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    writer = writer_of(folder, 2)
    for second in range(3):
        writer.append(batch(second, {"a": 1.0, "b": 2.0}))
    parts = {path.name: path.read_bytes() for path in (folder / "parts").iterdir()}
    assert len(parts) == 3
    writer.close()
    (folder / "parts").mkdir()
    for name, content in parts.items():
        (folder / "parts" / name).write_bytes(content)
    assert seconds_of(folder) == [0, 1, 2]
    assert open_recording(folder).rows == 6


def test_half_a_part_is_nobody_s_business(tmp_path: Path) -> None:
    writer = writer_of(tmp_path / "r", 2)
    writer.append(batch(0, {"a": 1.0, "b": 2.0}))
    (tmp_path / "r/parts/.node-000001.parquet.draft").write_bytes(b"PAR1, and then the lights went")
    assert seconds_of(tmp_path / "r") == [0]


def test_of_a_writer_that_was_killed_hosts_and_cards_end_together(tmp_path: Path) -> None:
    """Four times as many rows of cards come, and nobody seems to have fallen silent."""
    writer = writer_of(tmp_path / "r", 8)
    for second in range(7):
        writer.append(batch(second, dict.fromkeys("abcd", 1.0), "gpu_power_watts", Entity.GPU))
        writer.append(batch(second, {"a": 1.0}))
    ends = {table.entity: one.second for one in batches_of(tmp_path / "r") for table in one.tables}
    assert ends == {Entity.GPU: START + 5, Entity.NODE: START + 4}


def test_what_a_full_disk_refused_is_written_when_there_is_room(tmp_path: Path) -> None:
    disk, lines = Disk(), list[str]()
    recorder = Recorder(tmp_path / "r", portrait(), lines.append, disk.write)
    recorder.telemetry(batch(0, {"a": 1.0}), START + 1.0)
    recorder.flush()
    disk.is_full = True
    for second in (1, 2):
        recorder.telemetry(batch(second, {"a": 1.0}), START + second + 1.0)
        recorder.flush()
    assert seconds_of(tmp_path / "r") == [0], "what is there stays"
    assert (recorder.rows, recorder.waiting) == (1, 2)
    disk.is_full = False
    recorder.telemetry(batch(3, {"a": 1.0}), START + 4.0)
    recorder.close()
    assert seconds_of(tmp_path / "r") == [0, 1, 2, 3]
    assert len(lines) == 2
    assert lines[0] == (
        f"{tmp_path}/r cannot be written: No space left on device; what is there stays, and"
        " recording goes on when there is room"
    )
    assert lines[1] == f"{tmp_path}/r can be written again"


def test_the_oldest_rows_are_given_up_and_counted_when_the_disk_stays_full(tmp_path: Path) -> None:
    disk = Disk()
    writer = RecordingWriter(tmp_path / "r", portrait().description(), 2, disk.write)
    disk.is_full = True
    for second in range(20):
        try:
            writer.append(batch(second, {"a": 1.0}))
        except RecordingWriteError:
            continue
    assert writer.lost + writer.waiting == 20
    assert writer.waiting <= 10
    disk.is_full = False
    writer.close()
    assert seconds_of(tmp_path / "r") == list(range(writer.lost, 20))


def crowded(second: int) -> TelemetryBatch:
    """Three cards and one rank."""
    cards = batch(second, dict.fromkeys("abc", 1.0), "gpu_power_watts", Entity.GPU)
    return replace(
        cards, tables=cards.tables + batch(second, {"a": 1.0}, "loss", Entity.RANK).tables
    )


def test_what_still_waits_at_the_end_is_lost_and_nobody_seems_to_have_fallen_silent(
    tmp_path: Path,
) -> None:
    """A rank's table alone would fit, and its cards would seem to have vanished."""
    lines = list[str]()
    recorder = Recorder(tmp_path / "r", portrait(), lines.append, Disk(most_rows=2).write)
    for second in range(2):
        recorder.telemetry(crowded(second), START + 1.0)
    recorder.close()
    recorder.close()
    status = status_of([recorder])
    assert (status.rows, status.lost, status.waiting) == (0, 8, 0)
    assert not list((tmp_path / "r/parts").iterdir())
    assert lines[1] == f"{tmp_path}/r: 8 rows and events could not be written"


@pytest.mark.parametrize("room", [1, 3, 8, 12])
def test_of_what_does_not_fit_the_oldest_seconds_that_do_are_written(
    tmp_path: Path, room: int
) -> None:
    disk = Disk(room_for_rows=4 * room + 3)
    writer = RecordingWriter(tmp_path / "r", portrait().description(), 1000, disk.write)
    for second in range(13):
        writer.append(crowded(second))
    with pytest.raises(RecordingWriteError, match="No space left"):
        writer.close()
    told = [
        (one.second - START, {table.entity for table in one.tables})
        for one in batches_of(tmp_path / "r")
    ]
    assert told == [(second, {Entity.GPU, Entity.RANK}) for second in range(room)]
    assert (writer.rows, writer.waiting) == (4 * room, 4 * (13 - room))


def test_of_a_disk_that_stays_full_all_entities_lose_the_same_seconds(tmp_path: Path) -> None:
    disk = Disk()
    writer = RecordingWriter(tmp_path / "r", portrait().description(), 6, disk.write)
    disk.is_full = True
    for second in range(20):
        with suppress(RecordingWriteError):
            writer.append(crowded(second))
    disk.is_full = False
    writer.close()
    kept = {
        entity: [
            one.second - START
            for one in batches_of(tmp_path / "r")
            if entity in {table.entity for table in one.tables}
        ]
        for entity in (Entity.GPU, Entity.RANK)
    }
    assert kept[Entity.GPU] == kept[Entity.RANK] == list(range(writer.lost // 4, 20))
    assert writer.lost > 0


def test_events_that_a_full_disk_refused_are_whole_lines_later(tmp_path: Path) -> None:
    writer = writer_of(tmp_path / "r")
    writer.append(batch(0, {"a": 1.0}))
    lines = tmp_path / "r/events.jsonl"
    lines.unlink()
    lines.symlink_to("/dev/full")
    for second in (0, 1):
        with pytest.raises(RecordingWriteError, match="No space left"):
            writer.event(event(second))
    assert (writer.events, writer.waiting) == (0, 3)
    lines.unlink()
    writer.event(event(2))
    writer.close()
    assert [line[:43] for line in lines.read_text().splitlines()] == [
        f'{{"timestamp": "2026-01-01T00:00:0{second}Z", "kind' for second in range(3)
    ]
    assert (writer.events, writer.lost) == (3, 0)


def test_a_disk_without_room_to_put_the_parts_together_leaves_them_as_they_are(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "r"
    writer = writer_of(folder, 1)
    for second in range(3):
        writer.append(batch(second, {"a": 1.0}))
    (folder / ".node.parquet.draft").symlink_to("/dev/full")
    with pytest.raises(RecordingWriteError, match="No space left"):
        writer.close()
    assert seconds_of(folder) == [0, 1, 2]
    writer.close()
    assert seconds_of(folder) == [0, 1, 2]
    assert not (folder / "parts").exists()


def test_a_job_that_grows_is_described_anew(tmp_path: Path) -> None:
    known = portrait()
    recorder = Recorder(tmp_path / "r", known, lambda _line: None)
    grown = batch(1, {"a": 1.0, "c": 1.0})
    known.see(grown)
    recorder.telemetry(grown, START + 2.0)
    recorder.flush()
    assert [node.name for node in open_recording(tmp_path / "r").job.nodes] == ["a", "b", "c"]
