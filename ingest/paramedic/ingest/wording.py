"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: object, noun: str, nouns: str | None = None) -> str:
    """The number and the noun, in the plural unless it is one.

    >>> counted(1, "step"), counted(0, "step"), counted(4, "rank"), counted(2, "miss", "misses")
    ('1 step', '0 steps', '4 ranks', '2 misses')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or noun + 's'}"
