"""Loads the model that ships, so that everything works before anyone trains.

`benchmarks/train_default_model.py` makes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.models.registry.model_folder import MANIFEST_FILE, load

if TYPE_CHECKING:
    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.registry.manifest import Manifest

FOLDER = Path(__file__).parent / "model"
"""A wheel is unpacked before it is used, so its files are files."""


def shipped_model(folder: Path = FOLDER) -> tuple[PatternArtifact, Manifest]:
    """The model, checked. Raises ModelFileError where the package was built without it."""
    return load(folder)


def is_shipped(folder: Path = FOLDER) -> bool:
    """Whether there is one in this build."""
    return (folder / MANIFEST_FILE).exists()
