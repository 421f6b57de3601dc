"""Begins to open a recording while its user is still busy with something else.

Nothing that reads files is loaded here: that takes long, and is done where it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path

from paramedic.ingest.recordings.looking import looking
from paramedic.ingest.recordings.reading_aside import read_aside
from paramedic.ingest.recordings.recording import Recording

Opening = Callable[[], Recording]
"""Waits for the recording. Raises RecordingError."""

_LARGE_BYTES = 4 << 20
"""Of so much Parquet a process that reads it wins more than its own beginning takes."""


def being_opened(folder: Path, large_bytes: int = _LARGE_BYTES) -> AbstractContextManager[Opening]:
    """Begin to open a recording, which can be read once and as long as the context lasts.

    A large one is read by a process of its own, where there is a core for it; a small one is there
    sooner than a process begins. Raises RecordingError.
    """
    has_core = (os.cpu_count() or 1) > 1
    return read_aside(folder) if has_core and _bytes(folder) > large_bytes else _here(folder)


@contextmanager
def _here(folder: Path) -> Iterator[Opening]:
    with ThreadPoolExecutor(1, "opening") as thread:
        yield thread.submit(open_now, folder).result


def open_now(folder: Path) -> Recording:
    """Look through a recording. Raises RecordingError."""
    reading = import_module("paramedic.ingest.recordings.reading")
    recording: Recording = reading.open_recording(folder)
    return recording


def _bytes(folder: Path) -> int:
    with looking():
        files = (file for file in folder.glob("**/*.parquet") if file.is_file())
        return sum(file.stat().st_size for file in files)
