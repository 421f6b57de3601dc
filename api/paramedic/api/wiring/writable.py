"""Finds out whether a folder can be written before anything depends on it."""

from __future__ import annotations

from pathlib import Path

_PROBE = ".writable"


def make_writable(folder: Path) -> None:
    """Make the folder where it is missing, and write into it once. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / _PROBE
    probe.touch()
    probe.unlink()
