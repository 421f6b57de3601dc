"""What can be wrong with the data that families are named from."""

from __future__ import annotations


class FamilyDataError(ValueError):
    """What families are named from cannot be used as it is written.

    FamilyDataError
    ├── KnowledgeError      families.toml: not TOML, or an entry that cannot be
    └── CoefficientsError   the fitted coefficients: not JSON, or they belong to other knowledge
    """


class KnowledgeError(FamilyDataError):
    """The message names file, entry, field, value and remedy."""


class CoefficientsError(FamilyDataError):
    """The message names file, field and remedy."""
