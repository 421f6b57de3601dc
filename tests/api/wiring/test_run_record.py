"""What a run writes down and says about itself, and what its database says to it at the end."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from paramedic.api.settings.schema import ApiSettings, JobSettings, Settings
from paramedic.api.wiring import run as wiring
from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.request import Place, RunRequest, prepare
from paramedic.api.wiring.run_folder import (
    RunRecord,
    create_run_folder,
    database_url,
    job_name,
    require_unused,
)
from paramedic.api.wiring.sign_file import signed
from paramedic.api.wiring.stored_job import is_end_stored, stored_job
from paramedic.api.wiring.telemetry import letter_of_datagram
from paramedic.api.wiring.wording import counted
from paramedic.ingest.contract import DeadLetter, Event, EventKind, JobName, Topic
from paramedic.remediation.bookkeeping import Bookkeeping
from paramedic.remediation.store.store import open_store

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TRAIN = JobName("train")


def request(folder: Path, **changes: object) -> RunRequest:
    asked = RunRequest(
        command=("sh", "-c", "exit 3"),
        job="train",
        run_folder=None,
        bare=True,
        settings=Settings(job=JobSettings(ranks=1, spares=2), api=ApiSettings(port=0)),
        folder=folder,
        environment={"PATH": "/usr/bin:/bin"},
    )
    return replace(asked, **changes)  # type: ignore[arg-type]  # fields by name


def said_at_the_start(asked: RunRequest, record: RunRecord, place: Place) -> list[str]:
    out = io.StringIO()
    wiring._say_start(asked, record, place, out)
    return out.getvalue().splitlines()


def test_a_bare_run_writes_down_its_job_and_no_bus_and_no_api(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place = prepare(request(tmp_path), stack, NOON)
        record = wiring._record(place, None)
        record.write(place.run_folder)
        assert said_at_the_start(request(tmp_path), record, place) == [
            f"paramedic: job train: 1 rank, 2 spares, run folder {place.run_folder}"
        ]
    assert (record.bus, record.api, record.telemetry_socket) == (None, None, None)
    assert record.process_id == os.getpid()
    assert record.command[1:] == ("-c", "exit 3")
    assert Path(record.command[0]).is_absolute()
    assert RunRecord.read(place.run_folder) == record
    assert json.loads((place.run_folder / "run.json").read_text())["schema"] == 1


def test_where_there_is_an_api_the_address_and_the_logs_are_said(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place = prepare(request(tmp_path), stack, NOON)
        record = replace(wiring._record(place, None), api="http://127.0.0.1:8370")
        lines = said_at_the_start(request(tmp_path), record, place)
    assert lines[1] == (
        f"paramedic: API http://127.0.0.1:8370 (documentation at /docs), logs {place.logs}"
    )


def test_the_folder_of_a_run_is_the_jobs_and_the_moments(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place = prepare(request(tmp_path), stack, NOON + timedelta(microseconds=7))
    assert place.run_folder == tmp_path / "paramedic-runs" / "train-20260101-120000-000007"


def test_two_runs_that_begin_within_a_second_have_two_folders(tmp_path: Path) -> None:
    moments = [NOON + timedelta(microseconds=micro) for micro in (1, 2)]
    folders = {create_run_folder(None, tmp_path, "train", moment) for moment in moments}
    assert len(folders) == 2


def test_a_folder_that_was_begun_and_never_ran_may_be_used_again(tmp_path: Path) -> None:
    first = create_run_folder(tmp_path / "a", tmp_path, "train", NOON)
    (first / "checkpoints" / "step-4").touch()
    assert create_run_folder(tmp_path / "a", tmp_path, "train", NOON) == first
    assert (first / "checkpoints" / "step-4").exists()
    require_unused(first)


@pytest.mark.parametrize("record", ["run.json", "up.json"])
def test_a_folder_in_which_something_ran_or_watched_is_refused(tmp_path: Path, record: str) -> None:
    (tmp_path / record).touch()
    with pytest.raises(PreflightError, match="already holds a run: name another with --run-folder"):
        create_run_folder(tmp_path, tmp_path, "train", NOON)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0o500)
    with pytest.raises(PreflightError, match="Permission denied"):
        create_run_folder(tmp_path / "shut" / "run", tmp_path, "train", NOON)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("python", "a/b/train_llama-7b.py"), "train_llama-7b"),
        (("python", "-m", "train"), "python"),
        (("torchrun", "first.py", "second.py"), "first"),
        (("./ä.py",), "job"),
        (("/opt/x/.hidden.py",), "hidden"),
    ],
)
def test_a_job_without_a_name_has_its_scripts(command: tuple[str, ...], name: str) -> None:
    assert job_name(None, command) == name


def state(name: str, seconds: int) -> Event:
    moment = NOON + timedelta(seconds=seconds)
    return Event(moment, EventKind.JOB_STATE, TRAIN, generation=0, details={"state": name})


def book(folder: Path, *events: Event) -> None:
    store = open_store(database_url(folder))
    for event in events:
        Bookkeeping(store).take(event)
    store.close()


def test_what_is_stored_of_the_job_is_read_while_somebody_writes(tmp_path: Path) -> None:
    book(tmp_path, state("training", 0))
    writer = sqlite3.connect(tmp_path / "paramedic.sqlite", isolation_level=None)
    writer.execute("BEGIN")
    writer.execute("SELECT * FROM jobs").fetchall()
    found = stored_job(tmp_path, "train")
    writer.close()
    assert found is not None
    assert found.name == "train"


def test_a_database_that_is_locked_at_the_end_counts_as_not_stored(tmp_path: Path) -> None:
    book(tmp_path, state("finished", 0))
    assert is_end_stored(tmp_path, "train")
    writer = sqlite3.connect(tmp_path / "paramedic.sqlite", isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    assert not is_end_stored(tmp_path, "train")
    writer.close()
    assert is_end_stored(tmp_path, "train")


def test_a_loop_with_a_file_signs_when_it_looks_and_one_without_is_left_alone(
    tmp_path: Path,
) -> None:
    stop, path = threading.Event(), tmp_path / "x.alive"
    assert signed(stop, None) is stop
    signing = signed(stop, path)
    assert not path.exists()
    assert not signing.is_set()
    assert path.exists()
    stop.set()
    assert signing.is_set()
    assert signing.wait(0.0)


def test_a_datagram_that_was_never_on_the_bus_is_a_letter_without_a_place() -> None:
    letter = DeadLetter.from_json(letter_of_datagram("train/0", b"\xff", "no telemetry"))
    assert (letter.topic, letter.key, letter.offset) == (Topic.TELEMETRY, "train/0", -1)
    assert (letter.payload, letter.reason) == (b"\xff", "no telemetry")


@pytest.mark.parametrize("to_file", [True, False])
def test_a_process_logs_to_its_file_or_to_standard_error(tmp_path: Path, to_file: bool) -> None:
    path = tmp_path / "own.log"
    script = (
        "import logging, sys\n"
        "from pathlib import Path\n"
        "from paramedic.api.wiring.telling import log_to\n"
        "log_to(Path(sys.argv[1]) if sys.argv[1:] else None)\n"
        "logging.info('begun'); logging.debug('detail'); logging.info('of %s', 'a\\n\\x1b')\n"
    )
    arguments = [str(path)] if to_file else []
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    logged = path.read_text() if to_file else done.stderr
    begun, of_a_name = logged.splitlines()
    assert begun.endswith(" INFO begun")
    assert of_a_name.endswith(r" INFO of a\n\x1b")
    assert path.exists() is to_file


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1.0, "1.0 row")]
)
def test_a_number_has_its_noun(number: object, words: str) -> None:
    assert counted(number, "row") == words
