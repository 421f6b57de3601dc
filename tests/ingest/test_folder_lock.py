"""One process at a time in a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from paramedic.ingest.folder_lock import LOCK_FILE, FolderInUseError, alone_in

HOLDING = (
    "import sys\n"
    "from pathlib import Path\n"
    "from paramedic.ingest.folder_lock import alone_in\n"
    "with alone_in(Path(sys.argv[1]), 'a training'):\n"
    "    print('held', flush=True)\n"
    "    sys.stdin.read()\n"
)


def test_a_second_one_is_refused_with_the_process_id_of_the_first(tmp_path: Path) -> None:
    words = rf"in use: a training of process {os.getpid()} is at work there: wait for its end"
    with alone_in(tmp_path, "a training"):
        with pytest.raises(FolderInUseError, match=words), alone_in(tmp_path, "a training"):
            pytest.fail("two at once")
        assert (tmp_path / LOCK_FILE).read_text() == f"{os.getpid()}\n"
    with alone_in(tmp_path, "a training"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_of_somebody_who_was_killed_is_taken_over(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDING, str(tmp_path / "f")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as holder:  # type: ignore[call-overload]
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(FolderInUseError, match=str(holder.pid)), alone_in(tmp_path / "f", "x"):
            pytest.fail("two at once")
        holder.kill()
    assert (tmp_path / "f" / LOCK_FILE).exists()
    with alone_in(tmp_path / "f", "x"):
        pass


def test_a_folder_made_for_nothing_goes_away_and_others_stay(tmp_path: Path) -> None:
    with alone_in(tmp_path / "new" / "er", "x"):
        pass
    assert not (tmp_path / "new" / "er").exists()
    with alone_in(tmp_path / "kept", "x"):
        (tmp_path / "kept" / "result").touch()
    assert [one.name for one in (tmp_path / "kept").iterdir()] == ["result"]


def test_work_may_take_its_folder_away(tmp_path: Path) -> None:
    with alone_in(tmp_path / "f", "x"):
        (tmp_path / "f" / LOCK_FILE).unlink()
        (tmp_path / "f").rmdir()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(FolderInUseError, match=r"file/f cannot be written: Not a directory: name"),
        alone_in(tmp_path / "file" / "f", "x"),
    ):
        pytest.fail("nothing can be held")
