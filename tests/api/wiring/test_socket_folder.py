"""Sockets lie in a private folder that goes away, at the latest when the next run comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.socket_folder import remove_abandoned, socket_folder

OWNER = """
import os, signal, sys
from pathlib import Path
from paramedic.api.wiring.socket_folder import socket_folder
with socket_folder(Path(sys.argv[1])) as folder:
    (folder / "bus.sock").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(name="tmp_path")
def _short_path() -> Iterator[Path]:
    """A temporary folder near the root: a socket's path has 107 bytes at most."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def leave_a_folder_behind(parent: Path) -> Path:
    """What a run leaves in /tmp when it is killed."""
    done = subprocess.run([sys.executable, "-c", OWNER, str(parent)], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    (folder,) = parent.iterdir()
    return folder


def test_the_folder_is_private_and_goes_away_with_its_sockets(tmp_path: Path) -> None:
    with socket_folder(tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "bus.sock").touch()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left = leave_a_folder_behind(tmp_path)
    assert (left / "bus.sock").exists()
    with socket_folder(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]


def test_a_folder_whose_owner_lives_is_left_alone(tmp_path: Path) -> None:
    with socket_folder(tmp_path) as first, socket_folder(tmp_path) as second:
        remove_abandoned(tmp_path)
        assert sorted(tmp_path.iterdir()) == sorted([first, second])


def test_a_folder_that_was_never_a_runs_is_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "paramedic-demo-x"
    kept.mkdir()
    (kept / "run.log").touch()
    (tmp_path / "paramedic-notes").touch()
    other = leave_a_folder_behind_under_another_name(tmp_path)
    remove_abandoned(tmp_path)
    assert (kept / "run.log").exists()
    assert (tmp_path / "paramedic-notes").exists()
    assert other.exists()


def leave_a_folder_behind_under_another_name(parent: Path) -> Path:
    (parent / "other").mkdir()
    return leave_a_folder_behind(parent / "other").rename(parent / "somebody-elses")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_another_users_folder_is_left_alone(tmp_path: Path) -> None:
    left = leave_a_folder_behind(tmp_path)
    os.chown(left, 12345, 12345)
    remove_abandoned(tmp_path)
    assert left.exists()


def test_a_temporary_folder_with_too_long_a_name_is_refused_and_left_clean(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    with pytest.raises(PreflightError, match="set TMPDIR to a shorter one"), socket_folder(deep):
        pytest.fail("no socket fits in there")
    assert list(deep.iterdir()) == []


def test_a_temporary_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PreflightError, match="set TMPDIR"), socket_folder(tmp_path / "nothere"):
        pytest.fail("there is no such folder")
