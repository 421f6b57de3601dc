"""What remediation owns: incidents, actions, ledger rows (formats, section 3); stdlib only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from paramedic.diagnosis.contract import Fault, RecommendedAction, Severity
    from paramedic.ingest.contract import JobName, NodeName


class IncidentState(StrEnum):
    """Where an incident is between the first verdict and the end of it."""

    OPEN = "open"
    """Verdicts fire and nothing has been done yet."""
    ACTING = "acting"
    """An action was asked for and its effect has not been seen."""
    RECOVERED = "recovered"
    """The effect was seen: every verdict of it is resolved."""
    FAILED = "failed"
    """An action was refused or had no effect; a person is needed."""


class ActionState(StrEnum):
    """Where an intended outside effect is."""

    PLANNED = "planned"
    ACTING = "acting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not done: dry run, or the launcher had already done it by itself."""


class LedgerClass(StrEnum):
    """What a second of a job's life was spent on; the classes of a job add up to wall time."""

    PRODUCTIVE = "productive"
    WAITING_FOR_CAPACITY = "waiting_for_capacity"
    STARTING = "starting"
    DETECTION = "detection"
    LOCALISATION = "localisation"
    RECOVERY = "recovery"
    RECOMPUTATION = "recomputation"
    CHECKPOINT = "checkpoint"
    SUSPENDED = "suspended"


@dataclass(frozen=True, slots=True)
class Incident:
    """What people handle: the verdicts of one cause, and the owner of the paging key."""

    id: str
    job: JobName
    state: IncidentState
    severity: Severity
    fault: Fault
    nodes: tuple[NodeName, ...]
    verdicts: tuple[str, ...]
    """Ids of the verdicts that belong to it, oldest first."""
    opened_at: datetime
    closed_at: datetime | None
    summary: str


@dataclass(frozen=True, slots=True)
class Action:
    """One intended outside effect."""

    id: str
    incident: str
    kind: RecommendedAction
    target: NodeName
    launcher: str
    state: ActionState
    dry_run: bool
    idempotency_key: str
    requested_by: str
    approved_by: str | None = None
    calls: tuple[str, ...] = ()
    """The exact calls that were or would be made."""
    result: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A stretch of a job's life and what it was spent on."""

    job: JobName
    spent_on: LedgerClass
    """Written as `class` in JSON."""
    started_at: datetime
    ended_at: datetime
    incident: str | None = None
