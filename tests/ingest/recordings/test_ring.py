"""A ring holds the last hours of every job, never more than its cap, and any stretch of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.recordings.recorded import (
    JOB,
    START,
    batch,
    batches_of,
    describe,
    event,
    gpu_row,
    moment,
    moments_of,
    write_events,
    write_rows,
)
from ingest.recordings.test_capture import message_of, names
from paramedic.ingest.contract import Entity, Event, EventKind, JobName, TelemetryBatch
from paramedic.ingest.recordings.capturing import Capture
from paramedic.ingest.recordings.cutting import Stretch, cut
from paramedic.ingest.recordings.errors import (
    CutError,
    RecordingExistsError,
    RecordingFormatError,
)
from paramedic.ingest.recordings.ring import Ring, RingConfig, segments, size_of

pytestmark = pytest.mark.long


OTHER = JobName("gpt")
NOTHING_ELSE = 10**12


@dataclass
class Loop:
    """A ring that hears a batch a second of each job."""

    folder: Path
    cap_bytes: int = NOTHING_ELSE
    segment_seconds: float = 10.0
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        config = RingConfig(self.folder, self.cap_bytes, self.segment_seconds)
        self.ring = Ring(config, self.lines.append)
        self.capture = Capture(self.ring, 0.0, self.lines.append)

    def hear(self, fact: TelemetryBatch | Event, at: float) -> None:
        self.capture.take(message_of(fact), START + at)

    def turn(self, seconds: range, jobs: tuple[JobName, ...] = (JOB,)) -> None:
        for second in seconds:
            for job in jobs:
                self.hear(batch(second, {"a": float(second)}, job=job), second + 1.0)
            self.ring.flush(START + second + 1.0)

    def names(self) -> list[str]:
        return [str(one.relative_to(self.folder)) for one in segments(self.folder)]


def seconds_of(folder: Path) -> list[int]:
    return [one.second - START for one in batches_of(folder)]


def test_segments_are_recordings_that_begin_on_the_clock(tmp_path: Path) -> None:
    loop = Loop(tmp_path)
    loop.turn(range(3, 25))
    loop.ring.close()
    assert loop.names() == [f"llama-7b/20260101T0000{second}Z" for second in ("04", "10", "20")]
    assert [seconds_of(one) for one in segments(tmp_path)] == [
        list(range(3, 9)), list(range(9, 19)), list(range(19, 25))
    ]  # fmt: skip


def test_each_segment_begins_with_what_the_job_was_doing(tmp_path: Path) -> None:
    loop = Loop(tmp_path)
    loop.hear(event(0, EventKind.JOB_STATE, state="training", sampling_seconds=5), 0.5)
    loop.hear(event(0, EventKind.MEMBERSHIP, node="a", change="joined", rack="r1"), 0.5)
    loop.turn(range(1, 14))
    loop.ring.close()
    for segment in segments(tmp_path):
        first = moments_of(segment)[0].fact
        assert isinstance(first, Event)
        assert first.details["state"] == "training"
        text = (segment / "job.json").read_text()
        assert '"sampling_seconds": 5.0' in text
        assert '"rack": "r1"' in text


@pytest.mark.parametrize(("cap", "jobs"), [(9_000, 1), (15_000, 2)])
def test_the_oldest_goes_first_and_the_cap_holds(cap: int, jobs: int, tmp_path: Path) -> None:
    loop = Loop(tmp_path, cap, segment_seconds=4)
    for second in range(24):
        for job in (JOB, OTHER)[:jobs]:
            loop.hear(batch(second, {"a": float(second)}, job=job), second + 1.0)
        if second % 2:
            loop.ring.flush(START + second + 1.0)
            assert size_of(tmp_path) <= cap
    loop.ring.close()
    assert sorted(loop.ring.status().folders) == sorted(segments(tmp_path)), "what is still there"
    kept = sorted({second for one in segments(tmp_path) for second in seconds_of(one)})
    assert kept == list(range(kept[0], 24)), "no hole: only the oldest is missing"
    assert kept[0] > 0
    assert loop.lines == []


def test_a_segment_that_is_not_removable_is_told_once(tmp_path: Path) -> None:
    loop = Loop(tmp_path, cap_bytes=1, segment_seconds=2)
    stuck = tmp_path / "llama-7b" / "20250101T000000Z"
    stuck.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_text("x" * 100)
    stuck.rmdir()
    stuck.symlink_to(tmp_path / "elsewhere")
    loop.turn(range(3))
    assert [line for line in loop.lines if "cannot be removed" in line] == loop.lines
    assert len(loop.lines) == 1
    assert (tmp_path / "elsewhere" / "file").exists()


def test_a_job_that_falls_silent_leaves_a_segment_that_is_complete(tmp_path: Path) -> None:
    loop = Loop(tmp_path)
    loop.turn(range(3))
    loop.ring.flush(START + 11.0)
    (segment,) = segments(tmp_path)
    assert not (segment / "parts").exists()
    assert loop.ring.status().rows == 3


def test_a_ring_that_is_started_again_at_once_begins_a_further_segment(tmp_path: Path) -> None:
    for _ in range(2):
        loop = Loop(tmp_path)
        loop.turn(range(1))
        loop.ring.close()
    assert loop.names() == ["llama-7b/20260101T000001Z", "llama-7b/20260101T000001Z-1"]


def test_a_recording_is_no_ring(tmp_path: Path) -> None:
    with pytest.raises(RecordingExistsError, match="is a recording and no ring"):
        Loop(describe(tmp_path))


def three_segments(folder: Path) -> Path:
    loop = Loop(folder)
    loop.hear(event(0, EventKind.JOB_STATE, state="training"), 0.5)
    for second in range(25):
        loop.hear(batch(second, {"a": float(second)}, entity=Entity.NODE), second + 1.0)
        loop.hear(event(second + 0.5, number=second), second + 1.2)
    loop.ring.close()
    return folder


@settings(max_examples=4)
@given(first=st.integers(0, 24), last=st.integers(0, 24))
def test_a_stretch_that_is_cut_out_is_what_was_heard_then(
    first: int, last: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    loop = three_segments(folder / "ring")
    first, last = sorted((first, last))
    done = cut(loop, folder / "out", Stretch(moment(first), moment(last + 0.9)), None)
    seconds = list(range(first, last + 1))
    told = [name for second in seconds for name in (second, "maintenance")]
    assert sorted(map(str, names([one.fact for one in moments_of(folder / "out")]))) == sorted(
        map(str, ["job_state", *told])
    )
    assert (done.job, done.rows) == (JOB, len(seconds))


def test_a_cut_plays_as_the_whole_did(tmp_path: Path) -> None:
    ring = three_segments(tmp_path / "ring")
    cut(ring, tmp_path / "all", Stretch(), JOB)
    in_parts = [m for one in segments(ring) for m in moments_of(one)]
    heard = [m for m in in_parts if not (isinstance(m.fact, Event) and "state" in m.fact.details)]
    assert [m.arrived for m in moments_of(tmp_path / "all")][1:] == [m.arrived for m in heard]


def test_a_recording_of_somebody_else_can_be_cut_too(tmp_path: Path) -> None:
    rows = [gpu_row(second) for second in range(10)]
    naive = [row | {"timestamp": row["timestamp"].replace(tzinfo=None)} for row in rows]
    write_rows(describe(tmp_path / "theirs"), "gpu", naive, row_group_size=3)
    write_events(
        tmp_path / "theirs",
        *({"timestamp": f"2026-01-01T00:00:0{s}", "kind": "xid"} for s in (2, 7)),
    )
    done = cut(tmp_path / "theirs", tmp_path / "out", Stretch(last=moment(4)), None)
    assert seconds_of(tmp_path / "out") == [0, 1, 2, 3, 4]
    assert (done.rows, done.events) == (5, 1)


def test_what_cannot_be_cut_out_says_what_there_is(tmp_path: Path) -> None:
    ring = three_segments(tmp_path / "ring")
    with pytest.raises(
        CutError, match=r"from 2026-01-01T00:16:40Z; it holds from 2026-01-01T00:00"
    ):
        cut(ring, tmp_path / "out", Stretch(first=moment(1000)), None)
    with pytest.raises(CutError, match="holds nothing of job gpt; it holds llama-7b"):
        cut(ring, tmp_path / "out", Stretch(), OTHER)
    with pytest.raises(CutError, match="holds no recording"):
        cut(tmp_path / "nowhere", tmp_path / "out", Stretch(), None)
    Loop(tmp_path / "ring").turn(range(1), (OTHER,))
    with pytest.raises(CutError, match="holds gpt, llama-7b: choose one with --job"):
        cut(ring, tmp_path / "out", Stretch(), None)
    assert not (tmp_path / "out").exists()


def test_a_damaged_segment_is_named(tmp_path: Path) -> None:
    ring = three_segments(tmp_path / "ring")
    file = segments(ring)[0] / "node.parquet"
    file.write_bytes(b"PAR1")
    with pytest.raises(RecordingFormatError, match="the file of node rows is no Parquet file"):
        cut(ring, tmp_path / "out", Stretch(), None)
