"""What can go wrong with pattern models."""

from __future__ import annotations


class PatternError(Exception):
    """Base of what can go wrong with pattern models.

    PatternError
    ├── ModelFitError    stop: a model's tensors do not fit its settings
    └── TrainingError    stop: the histories cannot teach a model
    """


class ModelFitError(PatternError):
    """A model's tensors and settings contradict each other."""


class TrainingError(PatternError):
    """There is not enough to learn from."""
