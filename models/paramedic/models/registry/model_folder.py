"""A model as a folder: `model.safetensors` and `manifest.json`. Nothing else in it is ever read.

Safetensors holds numbers and names alone; pickles, which are programs, are never loaded. The bytes
that were hashed are the bytes that are used.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from math import isfinite
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as bytes_of

from paramedic.ingest.drafts import reason_of, remedy_for
from paramedic.models.pattern.artifact import PatternArtifact
from paramedic.models.registry.errors import ModelFileError, ModelWriteError, TamperedModelError
from paramedic.models.registry.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

TENSORS_FILE = "model.safetensors"
MANIFEST_FILE = "manifest.json"


def save(folder: Path, artifact: PatternArtifact, manifest: Manifest) -> Manifest:
    """Write a model into a new folder, all at once; what was written of the manifest.

    The same artifact and manifest give the same bytes. Raises ModelWriteError when the folder holds
    something already or cannot be written.
    """
    tensors = _bytes(artifact)
    complete = replace(
        manifest,
        tensors_sha256=sha256(tensors).hexdigest(),
        settings=dict(artifact.settings),
        metrics=artifact.metrics,
        fingerprint={name: _finite(told) for name, told in artifact.fingerprint.items()},
        scores=_finite({**artifact.scores, **manifest.scores}),
    )
    with _appearing(folder) as draft:
        write_safely(draft / TENSORS_FILE, tensors)
        write_safely(draft / MANIFEST_FILE, complete.to_json())
    return complete


def load(folder: Path) -> tuple[PatternArtifact, Manifest]:
    """Read a model, checked.

    Raises ModelFileError when a file is missing or unreadable, TamperedModelError when one is not
    what its hash says.
    """
    manifest = read_manifest(folder)
    path = folder / TENSORS_FILE
    content = _content(path)
    found = sha256(content).hexdigest()
    if found != manifest.tensors_sha256:
        raise TamperedModelError(
            f"{path}: its SHA-256 is {found}, and {MANIFEST_FILE} says {manifest.tensors_sha256}: "
            "it was changed or damaged; take the model from where it was trained"
        )
    tensors = _tensors(content, path)
    return PatternArtifact(
        manifest.settings, tensors, manifest.metrics, manifest.fingerprint, manifest.scores
    ), manifest


def read_manifest(folder: Path) -> Manifest:
    """What the folder says of its model. Raises ModelFileError, as `load` does."""
    path = folder / MANIFEST_FILE
    return Manifest.from_json(_content(path), str(path))


def write_safely(path: Path, content: bytes) -> None:
    """Write a new file, and have the disk hold it before anything relies on it. Raises OSError."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _finite(told: Mapping[str, float]) -> dict[str, float]:
    """JSON has no other numbers; what was never observed has no quantile. Counts stay whole."""
    return {
        name: value if isinstance(value, int) else float(value)
        for name, value in told.items()
        if isfinite(value)
    }


def _bytes(artifact: PatternArtifact) -> bytes:
    whole = {
        name: np.ascontiguousarray(tensor, np.float32) for name, tensor in artifact.tensors.items()
    }
    return bytes_of(dict(sorted(whole.items())))


def _tensors(content: bytes, path: Path) -> Mapping[str, NDArray[np.float32]]:
    try:
        tensors: Mapping[str, NDArray[np.float32]] = tensors_of(content)
    except SafetensorError as error:
        raise ModelFileError(f"{path}: no safetensors file: {error}") from error
    foreign = [name for name, tensor in tensors.items() if tensor.dtype != np.float32]
    if foreign:
        raise ModelFileError(f"{path}: {foreign[0]} is {tensors[foreign[0]].dtype}, not float32")
    return tensors


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelFileError(
            f"{path}: {error.strerror}: a model is a folder with {MANIFEST_FILE} and "
            f"{TENSORS_FILE}, as `paramedic train --out` writes it"
        ) from error


@contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """A draft beside the folder, which becomes the folder when the block has ended well."""
    draft: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(mkdtemp(prefix=f".{folder.name}.", suffix=".draft", dir=folder.parent))
        yield draft
        draft.chmod(0o755)
        if folder.exists():
            raise ModelWriteError(f"{folder} is there already: name another folder")
        draft.rename(folder)
    except OSError as error:
        raise ModelWriteError(
            f"{folder}: the model cannot be written: {reason_of(error)}:"
            f" {remedy_for(error, 'name another folder')}"
        ) from error
    finally:
        if draft is not None:
            rmtree(draft, ignore_errors=True)
