"""What a flag that takes a path accepts."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path


def path(text: str) -> Path:
    """The path that was given.

    Raises ArgumentTypeError for an empty one: a variable that is not set would silently become
    the current folder.
    """
    if not text.strip():
        raise ArgumentTypeError("the path is empty: name one or leave the flag out")
    return Path(text)
