"""Where new log lines come from: /dev/kmsg, a file that grows, a program such as journalctl."""

from __future__ import annotations

import errno
import os
import select
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from paramedic.ingest.sources.port import SourceAwayError

_PIECE_BYTES = 64 * 1024
_RECORD_BYTES = 8192
_RECORDS_AT_ONCE = 1000
_LINE_LIMIT_BYTES = 1024 * 1024


class LineFeed(Protocol):
    """Gives lines as they are written."""

    replays: bool
    """Whether it begins with lines from before it was opened."""

    def lines(self, timeout_seconds: float, /) -> Sequence[str]:
        """Lines that have come, waiting at most the time-out for the first.

        Raises SourceAwayError when the feed has ended: open a new one.
        """
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


OpenFeed = Callable[[], LineFeed]
"""Opens a feed. Raises SourceAwayError when it cannot be opened now."""


class KernelDevice:
    """Reads /dev/kmsg: what the kernel still holds, then what comes."""

    replays = True

    def __init__(self, path: Path = Path("/dev/kmsg")) -> None:
        self._path = path
        self.overwritten = 0
        """How often the kernel had overwritten lines before they were read."""
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            hint = "run as root or with CAP_SYSLOG, or follow journalctl or a file"
            raise SourceAwayError(f"{path}: {error.strerror}: {hint}") from error

    def lines(self, timeout_seconds: float, /) -> Sequence[str]:
        """Records, one a line."""
        if not select.select([self._file], [], [], timeout_seconds)[0]:
            return ()
        records: list[str] = []
        while len(records) < _RECORDS_AT_ONCE and (record := self._record()) is not None:
            records.append(record)
        return records

    def close(self) -> None:
        """Close the device."""
        os.close(self._file)

    def _record(self) -> str | None:
        """One record, without the lines of fields that follow its message."""
        try:
            record = os.read(self._file, _RECORD_BYTES)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno != errno.EPIPE:
                raise SourceAwayError(f"{self._path}: {error.strerror}") from error
            self.overwritten += 1
            return ""
        return record.decode("utf-8", "replace").partition("\n")[0] if record else None


class GrowingFile:
    """Reads a file from its end on, as it grows, is cut, or is replaced by a new one."""

    replays = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cut = LineCutter()
        try:
            self._file = path.open("rb", buffering=0)
            self._file.seek(0, os.SEEK_END)
        except OSError as error:
            raise SourceAwayError(f"{path}: {error.strerror}") from error

    def lines(self, _timeout_seconds: float, /) -> Sequence[str]:
        """Whole lines; never waits, since a file does not tell when it grows."""
        piece = self._file.read(_PIECE_BYTES)
        if not piece:
            self._follow_replacement()
            piece = self._file.read(_PIECE_BYTES)
        return self._cut.lines(piece or b"")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _follow_replacement(self) -> None:
        try:
            there = self._path.stat()
            here = os.fstat(self._file.fileno())
            if there.st_ino != here.st_ino:
                self._file.close()
                self._file = self._path.open("rb", buffering=0)
            elif there.st_size < self._file.tell():
                self._file.seek(0)
        except OSError as error:
            raise SourceAwayError(f"{self._path}: {error.strerror}") from error


class ProgramOutput:
    """Reads what a program writes, such as `journalctl -kfo json`."""

    replays = True

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        self._cut = LineCutter()
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise SourceAwayError(f"{command[0]} cannot be run: {error.strerror}") from error

    def lines(self, timeout_seconds: float, /) -> Sequence[str]:
        """Whole lines."""
        output = self._process.stdout
        assert output is not None
        if not select.select([output], [], [], timeout_seconds)[0]:
            return ()
        piece = os.read(output.fileno(), _PIECE_BYTES)
        if not piece:
            code = self._process.wait()
            raise SourceAwayError(f"{' '.join(self._command)} has ended with exit code {code}")
        return self._cut.lines(piece)

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


class LineCutter:
    """Cuts pieces of a stream into whole lines."""

    def __init__(self) -> None:
        self._rest = b""

    def lines(self, piece: bytes) -> list[str]:
        """The lines that the piece completes; a line without end is let go of at 1 MiB."""
        *whole, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > _LINE_LIMIT_BYTES:
            self._rest = b""
        return [line.decode("utf-8", "replace") for line in whole]
