"""What can go wrong with labels of recordings."""

from __future__ import annotations


class LabelError(Exception):
    """A file with labels or feedback is not of its form; says which, where and why."""
