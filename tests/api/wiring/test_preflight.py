"""Everything that cannot work is found before anything is started, and named in one line."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.wiring.command import resolve_command
from paramedic.api.wiring.errors import PreflightError, RunRecordError
from paramedic.api.wiring.run_folder import (
    RunRecord,
    create_run_folder,
    job_name,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
RECORD = RunRecord(
    job="demo",
    command=("python", "train.py"),
    started_at="2026-01-01T12:00:00Z",
    process_id=7,
    bus="unix:/tmp/x/bus.sock",
    api="http://127.0.0.1:8370",
    control_socket="/tmp/x/control.sock",
    telemetry_socket="/tmp/x/telemetry.sock",
)


def test_a_program_on_the_path_becomes_absolute(tmp_path: Path) -> None:
    found = resolve_command(("sh", "-c", "true"), tmp_path, {"PATH": "/usr/bin:/bin"})
    assert Path(found[0]).is_absolute()
    assert found[1:] == ("-c", "true")


def test_a_program_by_relative_path_is_found_in_the_current_folder(tmp_path: Path) -> None:
    script = tmp_path / "train.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert resolve_command(("./train.sh",), tmp_path, {}) == (str(tmp_path / "./train.sh"),)


def test_a_program_that_is_missing_or_no_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(PreflightError, match="command not found: nothere: not on PATH"):
        resolve_command(("nothere",), tmp_path, {"PATH": str(tmp_path)})
    with pytest.raises(PreflightError, match=r"command not found: \./nothere"):
        resolve_command(("./nothere",), tmp_path, {})
    with pytest.raises(PreflightError, match=f"command not found: {tmp_path}: it is a folder"):
        resolve_command((str(tmp_path),), tmp_path, {})
    with pytest.raises(PreflightError, match=r"chmod \+x"):
        resolve_command(("./notes.txt",), tmp_path, {})


def test_the_job_is_called_after_its_script() -> None:
    assert job_name(None, ("python", "/x/my train.py", "--steps", "3")) == "my-train"
    assert job_name(None, ("./a.out",)) == "a"
    assert job_name("llama-7b", ("python",)) == "llama-7b"


@pytest.mark.parametrize("name", ["", "a/b", "-x", ".hidden", "ä", "a" * 101])
def test_a_job_name_that_cannot_be_part_of_a_key_is_refused(name: str) -> None:
    with pytest.raises(PreflightError, match="--job"):
        job_name(name, ("python",))


@given(st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_any_command_gives_a_usable_name(command: list[str]) -> None:
    name = job_name(None, command)
    assert job_name(name, command) == name


def test_a_run_folder_is_made_with_room_for_logs_and_checkpoints(tmp_path: Path) -> None:
    folder = create_run_folder(None, tmp_path / "runs", "demo", NOON)
    assert folder.name.startswith("demo-20260101-120000")
    assert (folder / "logs").is_dir()
    assert (folder / "checkpoints").is_dir()
    assert sorted(entry.name for entry in folder.iterdir()) == ["checkpoints", "logs"]


def test_a_run_folder_that_holds_a_run_is_refused(tmp_path: Path) -> None:
    create_run_folder(tmp_path / "run", tmp_path, "demo", NOON)
    RECORD.write(tmp_path / "run")
    with pytest.raises(PreflightError, match="already holds a run"):
        create_run_folder(tmp_path / "run", tmp_path, "demo", NOON)


def test_a_run_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PreflightError, match="--run-folder"):
        create_run_folder(tmp_path / "file" / "run", tmp_path, "demo", NOON)


def test_a_record_is_read_as_it_was_written_and_leaves_no_draft(tmp_path: Path) -> None:
    RECORD.write(tmp_path)
    assert RunRecord.read(tmp_path) == RECORD
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "[" * 100_000, '{"job": "x"}'])
def test_a_damaged_record_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(RunRecordError, match=r"run\.json"):
        RunRecord.read(tmp_path)
