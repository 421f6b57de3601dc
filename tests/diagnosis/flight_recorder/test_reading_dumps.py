"""Dumps as PyTorch writes them, as JSON, and as nobody should write them."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from diagnosis.flight_recorder.dumps import RANK_3_HANGS, written
from diagnosis.synthetic import START
from paramedic.diagnosis.flight_recorder.errors import DumpFormatError, DumpsAbsentError
from paramedic.diagnosis.flight_recorder.events import events_of_dumps
from paramedic.diagnosis.flight_recorder.folder import DumpsFolder
from paramedic.diagnosis.flight_recorder.hanging import Holdup, holdups
from paramedic.diagnosis.flight_recorder.reading import read_dumps
from paramedic.ingest.contract import EventKind, JobName


def test_a_pickle_says_what_the_json_says(tmp_path: Path) -> None:
    as_json = read_dumps(written(tmp_path / "json", RANK_3_HANGS, START))
    assert read_dumps(written(tmp_path / "pickle", RANK_3_HANGS, START, pickled=True)) == as_json
    assert as_json[2].newest_seconds == START


def test_a_pickle_that_would_run_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nccl_trace_rank_0").write_bytes(pickle.dumps(Path, protocol=2))
    with pytest.raises(DumpFormatError, match=r"rank_0 is no flight-recorder dump: .*pathlib"):
        read_dumps(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DumpsAbsentError, match="nowhere is no folder"):
        read_dumps(tmp_path / "nowhere")


def test_who_hangs_is_told_with_where_the_others_wait_for_it(tmp_path: Path) -> None:
    (one,) = holdups(read_dumps(written(tmp_path, RANK_3_HANGS)))
    assert one == Holdup(3, "TENSOR", 50, 1, is_begun=False)
    assert one.words() == "rank 3 has not begun collective 50 of TENSOR, in which 1 rank waits"


def test_who_does_not_finish_is_told_with_what_it_stands_in(tmp_path: Path) -> None:
    pending = {3: [("t1", 40), ("t1", 41)], 2: [("t1", 50)], 0: [("p0", 7)]}
    (one,) = holdups(read_dumps(written(tmp_path, pending)))
    assert (one.rank, one.sequence, one.is_begun) == (3, 40, True)
    assert "has not finished collective 40 of TENSOR" in one.words()


def test_an_event_is_of_when_the_newest_collective_was_begun(tmp_path: Path) -> None:
    (event,) = events_of_dumps(read_dumps(written(tmp_path, RANK_3_HANGS, START)), JobName("j"))
    assert (event.kind, event.rank, event.node) == (EventKind.FLIGHT_RECORDER, 3, None)
    assert event.timestamp.timestamp() == START
    assert (event.details["group"], event.details["sequence"]) == ("TENSOR", 50)


def test_dumps_that_come_are_told_once_when_they_are_whole(tmp_path: Path) -> None:
    folder = DumpsFolder(tmp_path, lambda: START + 600.0)
    assert list(folder.look()) == []
    written(tmp_path / "llama", RANK_3_HANGS)
    assert list(folder.look()) == []  # it may still be written
    (event,) = folder.look()
    assert (event.job, event.rank, event.timestamp.timestamp()) == ("llama", 3, START + 600)
    assert list(folder.look()) == []


def test_dumps_that_lie_there_already_are_history(tmp_path: Path) -> None:
    written(tmp_path / "llama", RANK_3_HANGS)
    folder = DumpsFolder(tmp_path, lambda: 0.0)
    assert [event for _ in range(3) for event in folder.look()] == []


def test_a_folder_that_cannot_be_used_is_said_in_the_log_and_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert list(DumpsFolder(tmp_path / "nowhere", lambda: 0.0).look()) == []
    folder = DumpsFolder(tmp_path, lambda: 0.0)
    list(folder.look())
    (tmp_path / "llama").mkdir()
    assert [event for _ in range(3) for event in folder.look()] == []
    assert "cannot be looked at" in caplog.text
    assert "flight recorders of llama are not used" in caplog.text
