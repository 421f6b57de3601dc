"""What can go wrong with labels of recordings."""

from __future__ import annotations


class LabelError(Exception):
    """A file with labels or feedback is not of its form; says which, where and why."""


def words_of(error: Exception) -> str:
    """What is wrong with something that was read, in words: Python's own say it of code.

    >>> words_of(KeyError("faults")), words_of(ValueError("a fault without an onset"))
    ("the field 'faults' is missing", 'a fault without an onset')
    """
    if isinstance(error, KeyError):
        return f"the field {error} is missing"
    if isinstance(error, (TypeError, AttributeError)):
        return f"something stands where something else belongs ({error})"
    return str(error)
