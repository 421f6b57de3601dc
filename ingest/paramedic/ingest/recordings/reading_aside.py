"""Reads a large recording in a process of its own, so that judging has a core for itself.

The process (this module, run as a program) writes what it finds to its standard output, one pickle
after the other: the outline, portion after portion, and None at the end; or the error that it came
upon. It is in a session of its own, so that Ctrl-C ends its user first, and it ends with its user:
nobody takes what it writes any more.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from paramedic.ingest.contract import IngestError
from paramedic.ingest.recordings.errors import ReaderLostError
from paramedic.ingest.recordings.recording import ROWS_AT_ONCE, Outline, Portion, Recording

_BUFFER_BYTES = 1 << 20
_FIRST_BATCHES = 16


@contextmanager
def read_aside(
    folder: Path, program: Sequence[str] = ("-P", "-m", __name__)
) -> Iterator[Callable[[], Recording]]:
    """Begin to look through a recording; what is yielded waits for it, and raises RecordingError.

    It can be read once, and as long as the context lasts.
    """
    process = subprocess.Popen(
        [sys.executable, *program, os.fsencode(folder)],
        bufsize=_BUFFER_BYTES,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield lambda: _opened(process, folder)
    finally:
        process.kill()
        process.communicate()


def _opened(process: subprocess.Popen[bytes], folder: Path) -> Recording:
    outline: Outline = _next(process, folder)
    return Recording(outline, lambda _rows_at_once: _portions(process, folder))


def _portions(process: subprocess.Popen[bytes], folder: Path) -> Iterator[Portion]:
    while (portion := _next(process, folder)) is not None:
        yield portion


def _next(process: subprocess.Popen[bytes], folder: Path) -> Any:
    """What the process tells next. Raises what it has met, or ReaderLostError."""
    assert process.stdout is not None
    try:
        told = pickle.load(process.stdout)
    except (EOFError, pickle.UnpicklingError) as error:
        raise ReaderLostError(
            f"{folder}: the process that reads it ended before it was done"
            f" ({_how_it_ended(process.wait())}); nothing after this was judged: try again, and if"
            " it ends again see whether memory is short"
        ) from error
    if isinstance(told, IngestError):
        raise told
    return told


def _how_it_ended(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def tell(folder: Path, output: IO[bytes]) -> None:
    """Write all of a recording, or why it cannot be used."""
    # Loading what reads files takes long, and whoever starts this process does without it.
    reading = import_module("paramedic.ingest.recordings.reading")
    try:
        recording: Recording = reading.open_recording(folder)
        _write(recording.outline, output)
        for portion in _soon(recording.portions(ROWS_AT_ONCE)):
            _write(portion, output)
        _write(None, output)
    except IngestError as error:
        _write(error, output)


def _soon(portions: Iterator[Portion]) -> Iterator[Portion]:
    """The same, the first batches by themselves: somebody waits for them."""
    for portion in portions:
        if portion.moments:
            yield replace(portion, moments=portion.moments[:_FIRST_BATCHES])
            yield replace(portion, moments=portion.moments[_FIRST_BATCHES:])
            break
    yield from portions


def _write(what: Outline | Portion | IngestError | None, output: IO[bytes]) -> None:
    pickle.dump(what, output, pickle.HIGHEST_PROTOCOL)
    output.flush()


def main() -> None:
    """Tell of the folder that is named, as long as somebody listens."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb", _BUFFER_BYTES) as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anybody prints is no part of it
        try:
            tell(Path(os.fsdecode(sys.argv[1])), output)
        except BrokenPipeError:
            os._exit(0)  # nothing of what is buffered can be written


if __name__ == "__main__":
    main()
