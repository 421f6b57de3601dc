"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: object, noun: str, nouns: str | None = None) -> str:
    """The number and the noun, in the plural unless it is one.

    >>> counted(1, "step"), counted(0, "step"), counted(4, "rank"), counted(2, "miss", "misses")
    ('1 step', '0 steps', '4 ranks', '2 misses')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or noun + 's'}"


def others_heard(nodes: int) -> str:
    """That so many others are not silent.

    >>> others_heard(1), others_heard(7)
    ('1 other node is heard', '7 other nodes are heard')
    """
    return f"{counted(nodes, 'other node')} {'is' if nodes == 1 else 'are'} heard"
