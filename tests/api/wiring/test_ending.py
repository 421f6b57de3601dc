"""The last lines of a run say what became of the job and where to look."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from paramedic.api.rest.loopback import loopback_socket
from paramedic.api.wiring.ending import last_words
from paramedic.api.wiring.request import Place
from paramedic.api.wiring.run_folder import database_url
from paramedic.api.wiring.stored_job import goodput_of, is_end_stored
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName
from paramedic.remediation.bookkeeping import Bookkeeping
from paramedic.remediation.launchers.local.commands import JobEnd
from paramedic.remediation.launchers.local.exit_status import ExitStatus
from paramedic.remediation.launchers.local.local_job import JobResult
from paramedic.remediation.store.store import open_store

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def place(folder: Path) -> Place:
    return Place(JobName("train"), ("true",), folder, folder / "sockets", None)


def failed(folder: Path, last_line: str | None) -> JobResult:
    return JobResult(
        end=JobEnd.FAILED,
        exit_code=7,
        reason="node-0000 (rank 0) exited with 7 after 0.4 s",
        node=NodeName("node-0000"),
        rank=0,
        status=ExitStatus(exit_code=7),
        log_path=folder / "logs" / "node-0000.log",
        last_line=last_line,
    )


def test_a_job_that_ended_well_has_one_line(tmp_path: Path) -> None:
    result = JobResult(end=JobEnd.FINISHED, exit_code=0, reason="every rank finished")
    assert last_words(result, place(tmp_path)) == ["job train finished"]


def test_a_job_that_failed_says_why_and_where_to_look(tmp_path: Path) -> None:
    lines = last_words(failed(tmp_path, "no data"), place(tmp_path))
    assert lines[0] == "job train failed: node-0000 (rank 0) exited with 7 after 0.4 s"
    assert lines[1] == f"last line: no data ({tmp_path}/logs/node-0000.log)"


def test_an_empty_log_is_called_empty(tmp_path: Path) -> None:
    assert "its log is empty" in last_words(failed(tmp_path, None), place(tmp_path))[1]


def test_a_job_that_could_not_be_blamed_on_a_rank_has_one_line(tmp_path: Path) -> None:
    result = JobResult(end=JobEnd.FAILED, exit_code=1, reason="no rank came up")
    assert last_words(result, place(tmp_path)) == ["job train failed: no rank came up"]


def test_a_job_that_was_stopped_says_that_nothing_is_left(tmp_path: Path) -> None:
    result = JobResult(end=JobEnd.STOPPED, exit_code=130, reason="stopped by SIGINT")
    (line,) = last_words(result, place(tmp_path))
    assert line == "job train stopped by SIGINT; every process has been ended"


def book(folder: Path, *states: tuple[int, str]) -> None:
    """Store the job's states, each at its second, and the ledger of the first minute."""
    store = open_store(database_url(folder))
    try:
        books = Bookkeeping(store)
        for seconds, state in states:
            books.take(
                Event(
                    NOON + timedelta(seconds=seconds),
                    EventKind.JOB_STATE,
                    JobName("train"),
                    generation=0,
                    details={"state": state},
                )
            )
        books.bring_up_to(NOON + timedelta(seconds=60), also=frozenset({JobName("train")}))
    finally:
        store.close()


def test_goodput_is_read_from_the_ledger_that_a_run_left(tmp_path: Path) -> None:
    book(tmp_path, (0, "starting"), (15, "training"), (60, "finished"))
    assert goodput_of(tmp_path, "train") == pytest.approx(0.75)
    assert goodput_of(tmp_path, "other") is None


def test_the_last_line_of_a_run_with_a_platform_carries_its_goodput(tmp_path: Path) -> None:
    book(tmp_path, (0, "starting"), (15, "training"), (60, "finished"))
    with loopback_socket("127.0.0.1", 0) as listener:
        served = Place(JobName("train"), ("true",), tmp_path, tmp_path, listener)
        result = JobResult(end=JobEnd.FINISHED, exit_code=0, reason="")
        assert last_words(result, served) == ["job train finished, goodput 75.0%"]


@pytest.mark.parametrize("end", [JobEnd.FINISHED, JobEnd.STOPPED])
def test_a_run_whose_end_was_not_stored_says_so(tmp_path: Path, end: JobEnd) -> None:
    book(tmp_path, (0, "starting"), (15, "training"))
    with loopback_socket("127.0.0.1", 0) as listener:
        served = Place(JobName("train"), ("true",), tmp_path, tmp_path, listener)
        lines = last_words(JobResult(end=end, exit_code=0, reason=""), served)
    assert len(lines) == 2
    assert lines[0].startswith("remediation has not stored the end of the job: ")
    assert str(tmp_path / "logs" / "remediate.log") in lines[0]


def test_the_end_is_stored_once_the_job_is_finished_in_the_database(tmp_path: Path) -> None:
    assert not is_end_stored(tmp_path, "train")
    book(tmp_path, (0, "starting"), (15, "training"))
    assert not is_end_stored(tmp_path, "train")
    book(tmp_path, (60, "finished"))
    assert is_end_stored(tmp_path, "train")
    assert not is_end_stored(tmp_path, "other")


def test_without_a_database_there_is_no_goodput(tmp_path: Path) -> None:
    assert goodput_of(tmp_path, "train") is None
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_cannot_be_read_has_no_goodput(tmp_path: Path) -> None:
    (tmp_path / "paramedic.sqlite").write_bytes(b"no database" * 100)
    assert goodput_of(tmp_path, "train") is None
