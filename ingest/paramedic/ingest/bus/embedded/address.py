"""Where the embedded broker listens: the path of its Unix socket, checked before it is used."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from paramedic.ingest.contract import BusAddressError

SOCKET_PATH_LIMIT_BYTES = 107
"""What the kernel takes for a Unix socket (`sun_path`, unix(7))."""


def checked_path(path: Path) -> Path:
    """The path, if a Unix socket can lie there. Raises BusAddressError otherwise."""
    size = len(os.fsencode(path))
    if not 1 <= size <= SOCKET_PATH_LIMIT_BYTES or "\0" in str(path):
        raise BusAddressError(
            f"bus socket {str(path)!r}: {size} bytes, a Unix socket's path has at most"
            f" {SOCKET_PATH_LIMIT_BYTES}: use a shorter folder"
        )
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return path
    except OSError as error:
        raise BusAddressError(f"bus socket {path}: {error.strerror}: use another folder") from error
    if not stat.S_ISSOCK(mode):
        raise BusAddressError(f"bus socket {path}: a file of another kind lies there: remove it")
    return path
