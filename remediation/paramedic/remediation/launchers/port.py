"""The port of a launcher: what remediation may ask of whatever started the job.

Every adapter passes the contract suite in tests/contracts/test_launcher_contract.py.
Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from paramedic.ingest.contract import JobName, NodeName


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What this launcher can do; a plan never asks for more."""

    can_replace_rank: bool
    can_resize: bool
    has_spares: bool
    can_cordon: bool
    supports_in_process: bool


@dataclass(frozen=True, slots=True)
class ReplaceRank:
    """Put the rank that runs on `node` on a spare; the process on `node` is ended."""

    job: JobName
    node: NodeName
    generation: int
    """The generation in which the fault was seen: a newer one has already moved on."""
    idempotency_key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The exact calls that `apply` would make, in order; also what a dry run shows."""

    calls: tuple[str, ...]


class Effect(StrEnum):
    """What became of a request."""

    APPLIED = "applied"
    ALREADY_DONE = "already_done"
    """The same idempotency key was applied before, or the node no longer carries a rank."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The launcher's answer."""

    effect: Effect
    reason: str


class Launcher(Protocol):
    """What a launcher adapter implements."""

    name: str
    capabilities: Capabilities

    def plan(self, request: ReplaceRank) -> Plan:
        """The calls that `apply` would make. Never touches anything."""
        ...

    def apply(self, request: ReplaceRank) -> Outcome:
        """Do it, once for each idempotency key.

        Raises LauncherUnavailableError when the launcher cannot be reached: try again.
        """
        ...

    def observe(self, job: JobName) -> tuple[Placement, ...]:
        """Which node carries which rank now, spares included."""
        ...


@dataclass(frozen=True, slots=True)
class Placement:
    """One worker as the launcher sees it."""

    node: NodeName
    rank: int | None
    """None for a spare."""
    process_id: int | None
    generation: int
    step: int | None = None
    """The newest step that it is known to have done; None where the launcher does not know."""


class LauncherError(Exception):
    """Base of launcher errors.

    LauncherError
    ├── LauncherUnavailableError   try again: not reachable now
    └── LauncherSetupError         stop: this job can never be started like this
    """


class LauncherUnavailableError(LauncherError):
    """The launcher cannot be reached now."""


class LauncherSetupError(LauncherError):
    """The job cannot be started like this; the message says what to change."""
