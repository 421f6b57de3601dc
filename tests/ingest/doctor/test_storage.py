"""A place is measured within bounds, and nothing is left there, whatever happens."""

from __future__ import annotations

import errno
import mmap
import os
from itertools import count
from pathlib import Path

import pytest

from paramedic.ingest.doctor.errors import StorageError
from paramedic.ingest.doctor.storage.measuring import StorageLimits, Ways, measure

BLOCK = 4 * 1024 * 1024
SMALL = StorageLimits(total_bytes=2 * BLOCK, seconds=1000.0, small_files=3, small_seconds=1000.0)


def ticking() -> Ways:
    """Every look at the clock is a second later."""
    seconds = count()
    return Ways(lambda: float(next(seconds)))


def test_speeds_are_bytes_and_files_by_the_clock(tmp_path: Path) -> None:
    speed = measure(tmp_path, SMALL, ticking())
    assert speed.measured_bytes == 2 * BLOCK
    # The clock is looked at once before, once a block, and once after.
    assert speed.write_bytes_per_second == pytest.approx(2 * BLOCK / 3)
    assert speed.read_bytes_per_second == pytest.approx(2 * BLOCK / 4)
    assert speed.small_files_per_second == pytest.approx(3 / 4)
    assert list(tmp_path.iterdir()) == []


def test_time_is_bounded_too(tmp_path: Path) -> None:
    limits = StorageLimits(1 << 30, seconds=2.5, small_files=1000, small_seconds=2.5)
    speed = measure(tmp_path, limits, ticking())
    assert speed.measured_bytes == 2 * BLOCK


def test_where_the_page_cache_cannot_be_passed_it_is_said(tmp_path: Path) -> None:
    speed = measure(tmp_path, SMALL, Ways(ticking().clock, direct_flag=0))
    assert not speed.is_direct
    assert speed.read_bytes_per_second > 0


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "No space left on device: make room"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "Input/output error: name another place"),
    ],
)
def test_a_place_that_gives_up_is_one_line_and_left_clean(
    tmp_path: Path, code: int, words: str
) -> None:
    def fail(_descriptor: int, _block: mmap.mmap) -> int:
        raise OSError(code, os.strerror(code))

    with pytest.raises(StorageError, match=words) as error:
        measure(tmp_path, SMALL, Ways(ticking().clock, fail))
    assert str(tmp_path) in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"nowhere: No such file or directory: make it"):
        measure(tmp_path / "nowhere", SMALL, ticking())
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(StorageError, match="Not a directory: name a folder"):
        measure(file, SMALL, ticking())


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupt(_descriptor: int, _block: mmap.mmap) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(tmp_path, SMALL, Ways(ticking().clock, interrupt))
    assert list(tmp_path.iterdir()) == []
