"""Finds out whether a folder, or a file, can be written before anything depends on it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_PROBE = ".writable"


def make_writable(folder: Path) -> None:
    """Make the folder where it is missing, and write into it once. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / _PROBE
    probe.touch()
    probe.unlink()


def try_place_of(file: Path) -> None:
    """Find out whether the file can be put into its folder; what is there stays. Raises OSError."""
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    probe = file.with_name(_PROBE)
    probe.touch()
    probe.unlink()
