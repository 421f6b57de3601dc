"""The last words of a worker."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_TAIL_BYTES = 64 * 1024
_LONGEST_LINE = 500


_BROKEN_BY_A_PEER = (
    "Connection closed by peer",
    "Connection reset by peer",
    "Broken pipe",
    "[gloo/",
    "DistBackendError",
    "DistNetworkError",
    "NCCL",
)
"""What torch says on ranks that are not to blame when another one leaves a collective."""


def blames_a_peer(line: str | None) -> bool:
    """Whether a worker's last words say that the connection to another one broke."""
    return line is not None and any(mark in line for mark in _BROKEN_BY_A_PEER)


def last_line(log_path: Path) -> str | None:
    """The last line of the log that is not blank, cut to 500 characters; None without one."""
    try:
        with log_path.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - _TAIL_BYTES))
            text = log.read().decode(errors="replace")
    except FileNotFoundError:
        return None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:_LONGEST_LINE] if lines else None
