"""Which version is in production: an append-only record, and what follows from it.

    candidate ──promote──▶ production ──promote of another, roll back──▶ retired ──promote──▶ …

What is in production now, what was before it and every version's stage are all read off the record,
so they cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import TYPE_CHECKING

from paramedic.models.registry.errors import RegistryError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Stage(StrEnum):
    """What a version is used for."""

    CANDIDATE = "candidate"
    """Added, and never in use."""
    PRODUCTION = "production"
    """In use; one version at most."""
    RETIRED = "retired"
    """Was in use; may be again."""


class Step(StrEnum):
    """What can be done."""

    ADD = "add"
    PROMOTE = "promote"
    ROLL_BACK = "roll_back"
    """`version` of the entry is the one that leaves production."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was done."""

    at: str
    """RFC 3339, UTC."""
    step: Step
    version: int
    digest: str
    """Of the version's manifest, so that a version is what was added."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class StageChange:
    """A version came to a stage."""

    at: str
    stage: Stage
    why: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """All that was done, oldest first; every step gives a longer record."""

    entries: tuple[Entry, ...] = ()

    @property
    def versions(self) -> tuple[int, ...]:
        """In the order in which they were added."""
        return tuple(one.version for one in self.entries if one.step is Step.ADD)

    @property
    def production(self) -> int | None:
        """The version in use; None where none was promoted, or all were rolled back."""
        return self._promoted()[-1] if self._promoted() else None

    @property
    def previous(self) -> int | None:
        """What a roll back would put in use; None: the model that ships."""
        return self._promoted()[-2] if len(self._promoted()) > 1 else None

    def digest_of(self, version: int) -> str:
        """Of the manifest as it was added. Raises RegistryError."""
        for one in self.entries:
            if one.step is Step.ADD and one.version == version:
                return one.digest
        known = ", ".join(map(str, self.versions)) or "none"
        raise RegistryError(f"version {version}: there is no such version; there are: {known}")

    def stage_of(self, version: int) -> Stage:
        """Its stage now. Raises RegistryError for a version that there is not."""
        self.digest_of(version)
        return self.history_of(version)[-1].stage

    def history_of(self, version: int) -> tuple[StageChange, ...]:
        """Every stage it came to, oldest first."""
        return tuple(change for at, change in self._changes() if at == version)

    def added(self, at: str, version: int, digest: str) -> Record:
        """With one more candidate. Raises RegistryError for a version that is there."""
        if version in self.versions:
            raise RegistryError(f"version {version} is there already: add under the next number")
        return self._with(Entry(at, Step.ADD, version, digest))

    def promoted(self, at: str, version: int, why: str = "") -> Record:
        """With this version in production. Raises RegistryError when it cannot be, or is."""
        digest = self.digest_of(version)
        if version == self.production:
            raise RegistryError(f"version {version} is in production already: nothing to promote")
        return self._with(Entry(at, Step.PROMOTE, version, digest, why))

    def rolled_back(self, at: str, why: str = "") -> Record:
        """With what was in production before. Raises RegistryError where nothing is."""
        version = self.production
        if version is None:
            raise RegistryError(
                "no version is in production, so there is nothing to roll back: promote one"
            )
        return self._with(Entry(at, Step.ROLL_BACK, version, self.digest_of(version), why))

    def _with(self, entry: Entry) -> Record:
        return Record((*self.entries, entry))

    def _promoted(self) -> tuple[int, ...]:
        """Those that were put in use and not rolled back, the one in use last."""
        return reduce(_stacked, self.entries, ())

    def _changes(self) -> Iterator[tuple[int, StageChange]]:
        stack: tuple[int, ...] = ()
        for entry in self.entries:
            before, stack = stack[-1:], _stacked(stack, entry)
            if entry.step is Step.ADD:
                yield entry.version, StageChange(entry.at, Stage.CANDIDATE, entry.why)
            elif before != stack[-1:]:
                yield from ((o, StageChange(entry.at, Stage.RETIRED, entry.why)) for o in before)
                yield from (
                    (o, StageChange(entry.at, Stage.PRODUCTION, entry.why)) for o in stack[-1:]
                )


def _stacked(stack: tuple[int, ...], entry: Entry) -> tuple[int, ...]:
    match entry.step:
        case Step.PROMOTE:
            return (*stack, entry.version)
        case Step.ROLL_BACK:
            return stack[:-1]
    return stack
