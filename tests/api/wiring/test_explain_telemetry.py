"""Where an explanation's telemetry comes from: a recording, a ring, the folder of a run."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ingest.recordings.recorded import START, describe, gpu_row, write_rows
from paramedic.api.wiring.explain_telemetry import Excerpt, telemetry_of
from paramedic.ingest.recordings.cutting import Stretch
from paramedic.ingest.recordings.errors import CutError, RecordingError

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HALF_HOUR = timedelta(minutes=30)


def segment(ring: Path, job: str, minute: int, name: str | None = None) -> Path:
    """A minute of a job in a ring."""
    begun = datetime.fromtimestamp(START + 60 * minute, UTC)
    folder = ring / job / (name or f"{begun:%Y%m%dT%H%M%SZ}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    describe(folder, job=job)
    write_rows(folder, "gpu", [gpu_row(60 * minute + second) for second in range(60)])
    return folder


def seconds_of(folder: Path, excerpt: Excerpt) -> tuple[str, int, int]:
    """The job, and the first and last second of what is read, from the beginning."""
    with telemetry_of(folder, excerpt, io.StringIO()) as recording:
        seconds = recording.seconds
        return recording.job.job, seconds[0] - START, seconds[-1] - START


@pytest.fixture
def run(tmp_path: Path) -> Path:
    for minute in (0, 10, 50, 55):
        segment(tmp_path / "run" / "ring", "llama", minute)
    return tmp_path / "run"


def test_the_newest_half_hour_of_a_ring_is_read(run: Path) -> None:
    assert seconds_of(run, Excerpt(None)) == ("llama", 3000, 3359)
    assert seconds_of(run / "ring", Excerpt(None)) == ("llama", 3000, 3359)


def test_around_a_verdict_it_is_what_came_before_and_a_little_after(run: Path) -> None:
    first, last = (datetime.fromtimestamp(START + second, UTC) for second in (620, 640))
    assert seconds_of(run, Excerpt(None, first, last)) == ("llama", 0, 659)
    short = Excerpt(None, first, last, timedelta(seconds=5))
    assert seconds_of(run, short) == ("llama", 615, 659)


def test_everything_is_read_where_nothing_is_known(run: Path) -> None:
    assert seconds_of(run, Excerpt(None, is_whole=True)) == ("llama", 0, 3359)


def test_of_several_jobs_one_is_named(run: Path) -> None:
    segment(run / "ring", "gpt", 56)
    with pytest.raises(CutError, match=r"gpt, llama: choose one with --job"):
        seconds_of(run, Excerpt(None))
    assert seconds_of(run, Excerpt("gpt"))[0] == "gpt"
    with pytest.raises(CutError, match="nothing of job bert"):
        seconds_of(run, Excerpt("bert"))


def test_a_recording_is_read_as_it_is_also_beside_a_ring(tmp_path: Path) -> None:
    describe(tmp_path / "r", job="alone")
    write_rows(tmp_path / "r", "gpu", [gpu_row(second) for second in range(5)])
    segment(tmp_path / "r" / "ring", "llama", 50)
    late = Excerpt("llama", NOON, NOON)
    assert seconds_of(tmp_path / "r", late) == ("alone", 0, 4)


def test_what_is_neither_is_refused_as_a_recording_is(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(RecordingError):
            seconds_of(place, Excerpt(None))


def test_segments_with_other_names_count_as_the_oldest(tmp_path: Path) -> None:
    segment(tmp_path, "llama", 50)
    segment(tmp_path, "llama", 0, name="kept-by-hand")
    segment(tmp_path, "llama", 51, name="20260101T005100Z-1")
    begun = datetime.fromtimestamp(START + 51 * 60, UTC)
    assert Excerpt(None).around(tmp_path) == Stretch(first=begun - HALF_HOUR)
    assert seconds_of(tmp_path, Excerpt(None)) == ("llama", 3000, 3119)
