"""Files that are there whole or not at all, and what helps where the disk refuses one."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT)


def draft_of(path: Path) -> Path:
    """Where a file is written before it gets its name; nobody reads it there."""
    return path.with_name(f".{path.name}.draft")


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """A draft, which gets its name when the block has ended well and goes away when it has not."""
    draft = draft_of(path)
    try:
        yield draft
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text at once. Raises OSError, and then what was there before is there still."""
    with appearing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes at once. Raises OSError, and then what was there before is there still."""
    with appearing(path) as draft:
        draft.write_bytes(content)


def reason_of(error: OSError) -> str:
    """What the system says, without what a library adds.

    >>> reason_of(OSError(errno.ENOSPC, "Error writing bytes to file"))
    'No space left on device'
    """
    return os.strerror(error.errno) if error.errno is not None else str(error)


def remedy_for(error: OSError, otherwise: str) -> str:
    """What helps: room on a full disk, or else what is named.

    >>> remedy_for(OSError(errno.ENOSPC, ""), "name another file")
    'make room, or name another file'
    >>> remedy_for(OSError(errno.EACCES, ""), "name another file")
    'name another file'
    """
    return f"make room, or {otherwise}" if is_full(error) else otherwise


def is_full(error: OSError) -> bool:
    """Whether there is no room: something smaller may still be written."""
    return error.errno in _FULL
