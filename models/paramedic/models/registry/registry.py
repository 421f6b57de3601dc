"""A folder with all versions of a model, and the record of which was in production when.

    ROOT/record.json            what was done, oldest first; replaced as a whole, never half
    ROOT/versions/0001/         a model (`model_folder`), never changed once it is there
    ROOT/lock                   held by whoever changes something

Whoever reads needs no lock. Several processes may use one registry, on a file system whose renames
are atomic and whose `flock` reaches all of them.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.ingest.drafts import reason_of, remedy_for
from paramedic.models.registry.errors import ModelWriteError, RegistryError, TamperedModelError
from paramedic.models.registry.model_folder import (
    MANIFEST_FILE,
    load,
    read_manifest,
    save,
    write_safely,
)
from paramedic.models.registry.record_file import read_record, record_bytes
from paramedic.models.registry.stages import Record, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.registry.manifest import Manifest

RECORD_FILE = "record.json"
LOCK_FILE = "lock"
VERSIONS_FOLDER = "versions"
_DRAFT = f".{RECORD_FILE}.draft"


@dataclass(frozen=True, slots=True)
class Version:
    """One version as the registry lists it."""

    number: int
    stage: Stage
    manifest: Manifest
    """With the stages that it has come to."""


class Registry:
    """The versions below one folder, which is made by the first `add`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def record_file(self) -> Path:
        """What changes whenever something was done."""
        return self.root / RECORD_FILE

    def record(self) -> Record:
        """What was done so far. Raises ModelFileError for a file that is no record."""
        return read_record(self.record_file)

    def folder_of(self, version: int) -> Path:
        """Where a version lies, or would."""
        return self.root / VERSIONS_FOLDER / f"{version:04d}"

    def versions(self) -> tuple[Version, ...]:
        """All of them, oldest first. Raises ModelFileError, as `version` does."""
        record = self.record()
        return tuple(self._version(record, number) for number in record.versions)

    def version(self, number: int) -> Version:
        """One of them. Raises RegistryError where there is none, ModelFileError when damaged."""
        return self._version(self.record(), number)

    def load(self, number: int) -> tuple[PatternArtifact, Manifest]:
        """A version's model, checked against its own hashes and against what was added.

        Raises RegistryError, ModelFileError or TamperedModelError.
        """
        record = self.record()
        record.digest_of(number)
        artifact, manifest = load(self.folder_of(number))
        self._require(record, number, manifest)
        return artifact, replace(manifest, stages=record.history_of(number))

    def production(self) -> int | None:
        """The version in use; None: the model that ships. Raises ModelFileError."""
        return self.record().production

    def add(self, artifact: PatternArtifact, manifest: Manifest, at: str) -> int:
        """Keep a model as a candidate; its version. Raises ModelWriteError."""
        with self._changing() as write:
            record = self.record()
            number = self._next(record)
            kept = save(self.folder_of(number), artifact, replace(manifest, version=number))
            write(record.added(at, number, kept.digest))
        return number

    def promote(self, version: int, at: str, why: str = "") -> None:
        """Put a version in production, after it was checked; the one that was there is retired.

        Raises RegistryError when there is no such version or it is in production already,
        TamperedModelError when it is not what was added.
        """
        with self._changing() as write:
            record = self.record()
            promoted = record.promoted(at, version, why)
            self.load(version)
            write(promoted)

    def roll_back(self, at: str, why: str = "") -> int | None:
        """Put in production what was there before; None: the model that ships.

        Raises RegistryError where nothing is in production, TamperedModelError as `promote` does.
        """
        with self._changing() as write:
            record = self.record()
            rolled_back = record.rolled_back(at, why)
            if rolled_back.production is not None:
                self.load(rolled_back.production)
            write(rolled_back)
        return rolled_back.production

    def _version(self, record: Record, number: int) -> Version:
        record.digest_of(number)
        manifest = read_manifest(self.folder_of(number))
        self._require(record, number, manifest)
        history = record.history_of(number)
        return Version(number, record.stage_of(number), replace(manifest, stages=history))

    def _require(self, record: Record, number: int, manifest: Manifest) -> None:
        added = record.digest_of(number)
        if manifest.digest != added:
            raise TamperedModelError(
                f"{self.folder_of(number) / MANIFEST_FILE}: the SHA-256 of its content is "
                f"{manifest.digest}, and version {number} was added with {added}: another model "
                "lies in its place; add that one as a version of its own"
            )

    def _next(self, record: Record) -> int:
        """Above every version, and above folders of an `add` that was killed half-way."""
        folders = (self.root / VERSIONS_FOLDER).glob("[0-9]*")
        numbers = [int(one.name) for one in folders if one.name.isdecimal()]
        return max([0, *record.versions, *numbers]) + 1

    @contextmanager
    def _changing(self) -> Iterator[Callable[[Record], None]]:
        """Alone in the registry; what is given writes the record. Raises ModelWriteError."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.root / LOCK_FILE, os.O_CREAT | os.O_RDWR, 0o644)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield self._write
            finally:
                os.close(lock)
        except OSError as error:
            raise ModelWriteError(
                f"{self.root}: the registry cannot be changed: {reason_of(error)}:"
                f" {remedy_for(error, 'name another with --registry')}"
            ) from error

    def _write(self, record: Record) -> None:
        draft = self.root / _DRAFT
        draft.unlink(missing_ok=True)
        write_safely(draft, record_bytes(record))
        draft.replace(self.record_file)


def number_of(text: str) -> int:
    """The version that was typed. Raises RegistryError.

    >>> number_of("3"), number_of("0003")
    (3, 3)
    """
    if not (text.isascii() and text.isdecimal()):
        raise RegistryError(f"version {text!r} is no whole number: `paramedic models list`")
    return int(text)
