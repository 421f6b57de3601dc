"""A few names of many, for lines that people read."""

from __future__ import annotations

from collections.abc import Iterable


def some_names(names: Iterable[str], shown: int = 3) -> str:
    """The first names in the order given, and how many are left out.

    >>> some_names(["a", "b"]), some_names(["a", "b", "c", "d"]), some_names([])
    ('a, b', 'a, b, c and 1 more', '')
    """
    listed = list(names)
    more = len(listed) - shown
    text = ", ".join(listed[:shown])
    return text if more <= 0 else f"{text} and {more} more"
