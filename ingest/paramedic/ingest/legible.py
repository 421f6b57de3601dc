"""Names as people can read them, whatever they are made of."""

from __future__ import annotations


def legible(line: str) -> str:
    """The line with what cannot be seen written as Python writes it.

    >>> legible("a node \\x1b[2J\\\\n"), legible("13 % more, 2 × as fast")
    ('a node \\\\x1b[2J\\\\n', '13 % more, 2 × as fast')
    """
    if line.isprintable():
        return line
    return "".join(one if one.isprintable() else as_written(one) for one in line)


def as_written(character: str) -> str:
    """A character as Python writes it.

    >>> as_written("\\n"), as_written("名")
    ('\\\\n', '\\\\u540d')
    """
    return character.encode("unicode_escape").decode()
