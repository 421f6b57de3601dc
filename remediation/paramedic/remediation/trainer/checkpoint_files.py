"""Checkpoints on disk: a state file, and a manifest that is written last.

A checkpoint counts only when its manifest is there and the state file has the manifest's size and
digest. So a crash at any moment leaves the older checkpoint as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from paramedic.remediation.trainer.errors import CheckpointError, StateEncodingError
from paramedic.remediation.trainer.state_encoding import EncodedState, decode_state

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_KEPT = 2


class FileWriter(Protocol):
    """Writes a file so that it is on the disk under its name, or not at all."""

    def __call__(self, path: Path, chunks: Iterable[bytes]) -> None:
        """Raises OSError when the disk does not take it."""
        ...


def write_durably(path: Path, chunks: Iterable[bytes]) -> None:
    """Write to a temporary name, fsync, rename, fsync the folder. Raises OSError."""
    temporary = path.with_suffix(path.suffix + ".part")
    try:
        with temporary.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@dataclass(frozen=True, slots=True)
class LoadedCheckpoint:
    """A checkpoint whose manifest and digest hold."""

    step: int
    state: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CheckpointFolder:
    """The newest two checkpoints of a job."""

    folder: Path
    write: FileWriter = write_durably

    def save(self, step: int, encoded: EncodedState) -> None:
        """Write one checkpoint and drop the oldest. Raises OSError; then none is dropped."""
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"step-{step:012d}"
        self.write(self.folder / f"{name}.state", encoded.chunks())
        manifest = {"step": step, "bytes": encoded.size_bytes, "sha256": encoded.digest()}
        text = json.dumps(manifest, sort_keys=True).encode()
        self.write(self.folder / f"{name}.json", [text])
        for old in self._manifests()[_KEPT:]:
            old.unlink(missing_ok=True)
            old.with_suffix(".state").unlink(missing_ok=True)

    def load_newest(self) -> tuple[LoadedCheckpoint | None, tuple[CheckpointError, ...]]:
        """The newest checkpoint that holds, and why newer ones do not."""
        rejected: list[CheckpointError] = []
        for manifest in self._manifests():
            try:
                return _load(manifest), tuple(rejected)
            except CheckpointError as error:
                rejected.append(error)
        return None, tuple(rejected)

    def _manifests(self) -> list[Path]:
        return sorted(self.folder.glob("step-*.json"), reverse=True)


def _load(path: Path) -> LoadedCheckpoint:
    state_path = path.with_suffix(".state")
    try:
        manifest = json.loads(path.read_bytes())
        step, size, sha256 = manifest["step"], manifest["bytes"], manifest["sha256"]
        data = bytearray(state_path.read_bytes())
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointError(f"checkpoint {path} cannot be read: {error!r}") from error
    if len(data) != size:
        raise CheckpointError(f"checkpoint {state_path} has {len(data)} bytes instead of {size}")
    digest = hashlib.sha256(data).hexdigest()
    if digest != sha256:
        raise CheckpointError(f"checkpoint {state_path} has SHA-256 {digest} instead of {sha256}")
    try:
        return LoadedCheckpoint(step, decode_state(data))
    except StateEncodingError as error:
        raise CheckpointError(f"checkpoint {state_path}: {error}") from error
