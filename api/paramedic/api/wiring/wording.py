"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: object, noun: str) -> str:
    """The number and the noun, in the plural unless it is one.

    >>> counted(1, "step"), counted(0, "step"), counted(4, "rank")
    ('1 step', '0 steps', '4 ranks')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
