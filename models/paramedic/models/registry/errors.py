"""What can go wrong with model files and the registry; the tree is drawn in `ModelError`."""

from __future__ import annotations

from paramedic.models.contract import ModelError


class ModelFileError(ModelError):
    """The folder holds no model, or a file of it cannot be read."""


class TamperedModelError(ModelFileError):
    """A file is not what its hash says: damaged, or changed by somebody."""


class ModelWriteError(ModelError):
    """The folder cannot be written, or holds something already."""


class RegistryError(ModelError):
    """There is no such version, or no such step is possible."""
