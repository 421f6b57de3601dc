"""What can go wrong with pattern scoring."""

from __future__ import annotations


class PatternWatchError(Exception):
    """Base of what can go wrong with pattern scoring; verdicts go on in any case.

    PatternWatchError
    ├── UnusableModelError      the model cannot be made ready; the one in use stays
    └── MissingPackagesError    stop: what models need is not installed, or is broken
    """


class UnusableModelError(PatternWatchError):
    """A model whose files are whole contradicts itself, or belongs to another release."""


class MissingPackagesError(PatternWatchError):
    """A package of the extra `models` is not there, or cannot be loaded."""
