"""One process at a time in a folder.

The kernel lets go of the lock when its holder ends, however it ends: nothing is ever stale. The
process id in the file is for the message alone.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paramedic.ingest.contract import IngestError
from paramedic.ingest.drafts import reason_of, remedy_for

LOCK_FILE = ".lock"
_PROCESS_ID_BYTES = 32


class FolderInUseError(IngestError):
    """Another process is at work in the folder, or the folder cannot be locked."""


@contextmanager
def alone_in(folder: Path, work: str) -> Iterator[None]:
    """Hold the folder, which is made where it is missing; `work` says in a message what is done.

    Raises FolderInUseError.
    """
    is_new = not folder.exists()
    lock = _taken(folder, work)
    try:
        yield
    finally:
        (folder / LOCK_FILE).unlink(missing_ok=True)  # while it is still held
        os.close(lock)
        if is_new and folder.exists() and not any(folder.iterdir()):
            folder.rmdir()


def _taken(folder: Path, work: str) -> int:
    """The open file of a lock that is held."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while (lock := _locked(folder / LOCK_FILE)) is None:
            pass  # whoever held it took the file away as it was opened: there is a new one now
    except BlockingIOError as error:
        raise FolderInUseError(
            f"{folder} is in use: {work} of process {error.strerror} is at work there: wait for its"
            " end, or name another folder"
        ) from error
    except OSError as error:
        raise FolderInUseError(
            f"{folder} cannot be written: {reason_of(error)}:"
            f" {remedy_for(error, 'name another folder')}"
        ) from error
    return lock


def _locked(file: Path) -> int | None:
    """Raises BlockingIOError with the holder's process id when another process holds it."""
    lock = os.open(file, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if file.exists() and os.path.samestat(os.fstat(lock), file.stat()):
            os.truncate(lock, 0)
            os.write(lock, f"{os.getpid()}\n".encode())
            return lock
    except BlockingIOError as error:
        holder = os.read(lock, _PROCESS_ID_BYTES).decode("ascii", "replace").strip()
        os.close(lock)
        raise BlockingIOError(error.errno, holder or "unknown") from error
    except OSError:
        os.close(lock)
        raise
    os.close(lock)
    return None
