"""A process that runs picks up what was promoted, and keeps what it has when that is broken.

    follower = ProductionFollower(registry, shipped_model)
    for change in follower.look(now_seconds):      # as often as one likes; one `stat` a second
        …                                          # Adopted: score with change.model from now on

Only the model changes hands: whoever scores keeps its windows and everything else it knows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.models.contract import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.registry.manifest import Manifest
    from paramedic.models.registry.registry import Registry

    Signature = tuple[int, int, int]


@dataclass(frozen=True)
class ServedModel:
    """A model in use."""

    version: int | None
    """In the registry; None: the model that ships."""
    artifact: PatternArtifact
    manifest: Manifest

    @property
    def title(self) -> str:
        """For people: `small, version 3`."""
        where = "as it ships" if self.version is None else f"version {self.version}"
        return f"{self.manifest.name}, {where}"


@dataclass(frozen=True)
class Adopted:
    """From now on this model is in use."""

    model: ServedModel


@dataclass(frozen=True, slots=True)
class Refused:
    """What is in production cannot be used, so the model in use stays."""

    why: str


Change = Adopted | Refused


class ProductionFollower:
    """Watches which version is in production. For one thread."""

    def __init__(
        self,
        registry: Registry,
        shipped: Callable[[], tuple[PatternArtifact, Manifest]],
        look_seconds: float = 1.0,
        retry_seconds: float = 30.0,
    ) -> None:
        """`shipped` loads the model that is used while nothing is in production.

        The file system is asked every `look_seconds` at most; what could not be used is tried again
        every `retry_seconds`.
        """
        self._registry = registry
        self._shipped = shipped
        self._look_seconds = look_seconds
        self._retry_seconds = retry_seconds
        self._looked = -math.inf
        self._tried = -math.inf
        self._signature: Signature | None = None
        self._why: str | None = None
        self.model: ServedModel | None = None
        """The model in use; None before the first look."""

    def look(self, now_seconds: float) -> Sequence[Change]:
        """What has changed since the last look; `now_seconds` is any steady clock.

        The first look gives a model in any case. Raises ModelError when not even the model that
        ships can be loaded, where it is the only one.
        """
        if now_seconds - self._looked < self._look_seconds:
            return ()
        self._looked = now_seconds
        try:
            signature = self._signed()
            if not self._is_due(signature, now_seconds):
                return ()
            self._signature, self._tried = signature, now_seconds
            adopted = self._adopt(signature)
        except (ModelError, OSError) as error:
            return self._kept(str(error))
        self._why = None
        return adopted

    def _signed(self) -> Signature | None:
        """What tells one record from the next: a record is replaced by a new file, never changed.

        Raises OSError when it cannot be asked for, or was there and is gone.
        """
        path = self._registry.record_file
        try:
            seen = path.stat()
        except FileNotFoundError as error:
            if self._signature is not None:
                raise FileNotFoundError(f"{path} is gone") from error
            return None
        return seen.st_mtime_ns, seen.st_ino, seen.st_size

    def _is_due(self, signature: Signature | None, now_seconds: float) -> bool:
        if self.model is None or signature != self._signature:
            return True
        return self._why is not None and now_seconds - self._tried >= self._retry_seconds

    def _adopt(self, signature: Signature | None) -> Sequence[Change]:
        """The model in production, if it is another than the one in use. Raises ModelError."""
        version = None if signature is None else self._registry.production()
        if self.model is not None and version == self.model.version:
            return ()
        artifact, manifest = self._shipped() if version is None else self._registry.load(version)
        self.model = ServedModel(version, artifact, manifest)
        return (Adopted(self.model),)

    def _kept(self, why: str) -> Sequence[Change]:
        """The same trouble is told once."""
        told = () if why == self._why else (Refused(why),)
        self._why = why
        if self.model is not None:
            return told
        self.model = ServedModel(None, *self._shipped())
        return (*told, Adopted(self.model))
