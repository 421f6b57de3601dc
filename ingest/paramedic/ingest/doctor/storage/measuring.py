"""Measures a place: sequential writing and reading, and small files made safe.

Writing and reading go around the page cache (O_DIRECT) where the file system lets them; writing
ends with fsync always. What is written is random, so that nothing is gained by compressing it.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from paramedic.ingest.doctor.errors import StorageError

_BLOCK_BYTES = 4 * 1024 * 1024
_SMALL_BYTES = 4096
_REMEDIES = {
    errno.ENOSPC: "make room, or name another place",
    errno.EDQUOT: "the quota is used up: make room, or name another place",
    errno.EROFS: "it is mounted read-only: name another place",
    errno.EACCES: "it may not be written by this user: name another place",
    errno.EPERM: "it may not be written by this user: name another place",
    errno.ENOENT: "make it, or name another place",
    errno.ENOTDIR: "name a folder",
}


@dataclass(frozen=True, slots=True)
class StorageLimits:
    """How much is measured: whichever comes first."""

    total_bytes: int = 1 << 30
    seconds: float = 10.0
    """Of writing, and again of reading."""
    small_files: int = 1000
    small_seconds: float = 3.0


@dataclass(frozen=True, slots=True)
class StorageSpeed:
    """What a place can do, for one writer."""

    measured_bytes: int
    write_bytes_per_second: float
    read_bytes_per_second: float
    small_files_per_second: float
    """Each made, written, made safe and renamed."""
    is_direct: bool
    """Whether the page cache was out of the way."""


@dataclass(frozen=True, slots=True)
class Ways:
    """How the world is touched."""

    clock: Callable[[], float]
    """Seconds that only ever grow."""
    write: Callable[[int, mmap.mmap], int] = os.write
    direct_flag: int = getattr(os, "O_DIRECT", 0)


def measure(place: Path, limits: StorageLimits, ways: Ways) -> StorageSpeed:
    """Measure a folder and leave nothing in it. Raises StorageError."""
    try:
        with _workplace(place) as folder, _block() as block:
            planned = _planned_bytes(place, limits)
            return _measured(folder, block, planned, limits, ways)
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "name another place")
        raise StorageError(f"--storage {place}: {error.strerror}: {remedy}") from error


def _measured(
    folder: Path, block: mmap.mmap, planned: int, limits: StorageLimits, ways: Ways
) -> StorageSpeed:
    file = folder / "sequential"
    descriptor, is_direct = _opened(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, ways)
    with _closing(descriptor):
        written, write_seconds = _write(descriptor, block, planned, limits.seconds, ways)
    descriptor, is_read_direct = _opened(file, os.O_RDONLY, ways)
    with _closing(descriptor):
        read, read_seconds = _read(descriptor, block, limits.seconds, ways)
    file.unlink()
    made, small_seconds = _small_files(folder, block[:_SMALL_BYTES], limits, ways)
    return StorageSpeed(
        measured_bytes=written,
        write_bytes_per_second=written / write_seconds,
        read_bytes_per_second=read / read_seconds,
        small_files_per_second=made / small_seconds,
        is_direct=is_direct and is_read_direct,
    )


@contextmanager
def _workplace(place: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=".paramedic-doctor-", dir=place))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def _block() -> Iterator[mmap.mmap]:
    """Memory that begins with a page, as O_DIRECT wants it."""
    with mmap.mmap(-1, _BLOCK_BYTES) as block:
        block.write(os.urandom(_BLOCK_BYTES))
        yield block


@contextmanager
def _closing(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)


def _planned_bytes(place: Path, limits: StorageLimits) -> int:
    """At most half of what is free, in whole blocks: a measurement must not fill a disk."""
    blocks = min(limits.total_bytes, shutil.disk_usage(place).free // 2) // _BLOCK_BYTES
    if blocks < 1:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return blocks * _BLOCK_BYTES


def _opened(file: Path, flags: int, ways: Ways) -> tuple[int, bool]:
    """The file, and whether the page cache is out of the way."""
    if ways.direct_flag:
        try:
            return os.open(file, flags | ways.direct_flag, 0o600), True
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            if flags & os.O_CREAT:
                # Some file systems make the file before they refuse the flag.
                file.unlink(missing_ok=True)
    return os.open(file, flags, 0o600), False


def _write(
    descriptor: int, block: mmap.mmap, planned: int, seconds: float, ways: Ways
) -> tuple[int, float]:
    written, began = 0, ways.clock()
    while written < planned and ways.clock() - began < seconds:
        written += ways.write(descriptor, block)
    os.fsync(descriptor)
    return written, max(ways.clock() - began, 1e-9)


def _read(descriptor: int, block: mmap.mmap, seconds: float, ways: Ways) -> tuple[int, float]:
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    read, began = 0, ways.clock()
    while ways.clock() - began < seconds:
        got = os.readv(descriptor, [block])
        if not got:
            break
        read += got
    return read, max(ways.clock() - began, 1e-9)


def _small_files(
    folder: Path, content: bytes, limits: StorageLimits, ways: Ways
) -> tuple[int, float]:
    made, began = 0, ways.clock()
    while made < limits.small_files and ways.clock() - began < limits.small_seconds:
        new = folder / "new"
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with _closing(descriptor):
            os.write(descriptor, content)
            os.fsync(descriptor)
        new.rename(folder / f"file-{made}")
        made += 1
    return made, max(ways.clock() - began, 1e-9)
