"""The private folder of a run's sockets; what a run that was killed left behind goes away too."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paramedic.api.wiring.errors import PreflightError

_PREFIX = "paramedic-"
_OWNER_FILE = "owner"
_LONGEST_SOCKET_PATH = 107
_LONGEST_SOCKET_NAME = len("/telemetry.sock")


@contextmanager
def socket_folder(parent: Path | None = None) -> Iterator[Path]:
    """A private folder (mode 0700) below the system's temporary folder, for as long as the context.

    Folders whose owner is dead are removed first. Raises PreflightError when the folder cannot be
    made or a socket's path would be too long.
    """
    try:
        parent = Path(tempfile.gettempdir()) if parent is None else parent
        remove_abandoned(parent)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    except OSError as error:
        raise PreflightError(f"no temporary folder ({error.strerror}): set TMPDIR") from error
    try:
        _require_short(folder)
        lock = _own(folder)
        try:
            yield folder
        finally:
            os.close(lock)
    finally:
        # Late children may still hold a socket's name while the folder goes: that is no error.
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(parent: Path) -> None:
    """Remove the socket folders of this user whose owner is dead."""
    for folder in parent.glob(f"{_PREFIX}*"):
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _require_short(folder: Path) -> None:
    if len(os.fsencode(folder)) + _LONGEST_SOCKET_NAME > _LONGEST_SOCKET_PATH:
        raise PreflightError(
            f"temporary folder {folder} is too long for a socket's path "
            f"({_LONGEST_SOCKET_PATH} bytes at most): set TMPDIR to a shorter one"
        )


def _own(folder: Path) -> int:
    """Hold a lock that ends with this process, however it ends; its descriptor.

    The file gets its name once it is locked, so that nobody takes a young folder for an abandoned.
    """
    draft = folder / f"{_OWNER_FILE}.draft"
    lock = os.open(draft, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    draft.rename(folder / _OWNER_FILE)
    return lock


def _is_abandoned(folder: Path) -> bool:
    try:
        if folder.lstat().st_uid != os.getuid():
            return False
        lock = os.open(folder / _OWNER_FILE, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # somebody else's, too young, gone meanwhile, or no socket folder at all
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
