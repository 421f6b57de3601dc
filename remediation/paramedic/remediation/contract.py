"""What remediation owns: incidents, actions, ledger rows (formats, section 3); stdlib only.

`Records` is the port through which other parts read them; nobody else opens the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime

    from paramedic.diagnosis.contract import Fault, RecommendedAction, Severity, Status
    from paramedic.ingest.contract import JobName, JobState, NodeName


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
    detected_at: datetime | None = None
    """When the first of its verdicts fired; None before it is stored."""
    taken_over_by: tuple[NodeName, ...] = ()
    """The nodes that carry on the ranks of its nodes, in the order in which they came."""


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


@dataclass(frozen=True, slots=True)
class Job:
    """A training job as its events tell it."""

    name: JobName
    state: JobState | None
    """None until the first `job_state` event."""
    generation: int
    world_size: int
    """Nodes that carry a rank now."""
    started_at: datetime
    ended_at: datetime | None
    step: int | None
    """The newest step that an event or the launcher spoke of."""
    goodput: float | None = None
    """Productive share of the wall time, 0..1; None before the ledger has a row."""


@dataclass(frozen=True, slots=True)
class Stay:
    """A node's time in a job with one rank, or as a spare."""

    job: JobName
    node: NodeName
    rank: int | None
    """None for a spare."""
    since: datetime
    until: datetime | None
    """None while it lasts."""


@dataclass(frozen=True, slots=True)
class Maintenance:
    """What people said that they would do to machines, or to a whole job, and when."""

    id: str
    nodes: tuple[NodeName, ...]
    """Empty where the whole job is meant."""
    job: JobName | None
    """None: in whichever job the nodes are."""
    begins: datetime
    ends: datetime
    reason: str
    declared_at: datetime
    ended_at: datetime | None = None
    """When it was ended or withdrawn by hand; None where it runs its time."""
    told_jobs: tuple[JobName, ...] = ()
    """The jobs whose diagnosis has been told, by name."""

    @property
    def over_at(self) -> datetime:
        """When it is over."""
        return self.ends if self.ended_at is None else min(self.ends, self.ended_at)


@dataclass(frozen=True, slots=True)
class VerdictFilter:
    """Which verdicts to list; None means any."""

    job: JobName | None = None
    status: Status | None = None
    node: NodeName | None = None
    fault: Fault | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class IncidentFilter:
    """Which incidents to list; None means any."""

    job: JobName | None = None
    state: IncidentState | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts for the metrics page, each keyed by its label values."""

    verdicts: Mapping[tuple[str, str, str], int]
    """By status, fault and severity, as they are now."""
    verdict_changes: Mapping[str, int]
    """Every state a verdict has ever taken, by status; only grows."""
    incidents_open: Mapping[tuple[str, str], int]
    """By job and severity."""
    actions: Mapping[tuple[str, str], int]
    """By kind and state."""


class JobReader(Protocol):
    """Reads jobs, where their ranks are, and what their time was spent on."""

    def all(self) -> Sequence[Job]:
        """Every job, newest start first."""
        ...

    def get(self, name: JobName) -> Job | None:
        """One job, or None."""
        ...

    def stays(self, name: JobName) -> Sequence[Stay]:
        """Placements of the job, the present ones first, then by rank."""
        ...


class VerdictReader(Protocol):
    """Reads verdicts as the bytes that were on the verdict topic."""

    def document(self, verdict_id: str) -> bytes | None:
        """The newest state of one verdict, or None."""
        ...

    def documents(self, wanted: VerdictFilter) -> Sequence[bytes]:
        """The newest states, newest `detected_at` first."""
        ...


class IncidentReader(Protocol):
    """Reads incidents and what was done about them."""

    def find(self, wanted: IncidentFilter) -> Sequence[Incident]:
        """Incidents, newest first."""
        ...

    def get(self, incident_id: str) -> Incident | None:
        """One incident, or None."""
        ...


class ActionReader(Protocol):
    """Reads actions."""

    def of_incident(self, incident_id: str) -> Sequence[Action]:
        """The actions of one incident, oldest first."""
        ...


class MaintenanceReader(Protocol):
    """Reads declared maintenance."""

    def all(self) -> Sequence[Maintenance]:
        """Every maintenance that is kept, the one that begins last first."""
        ...

    def get(self, maintenance_id: str) -> Maintenance | None:
        """One maintenance, or None."""
        ...


class MaintenanceBook(Protocol):
    """Takes maintenance in; remediation tells the jobs. Safe to use from several threads."""

    def declare(self, maintenance: Maintenance) -> None:
        """Keep it; the same id again changes nothing. Raises StoreUnavailableError."""
        ...

    def end(self, maintenance_id: str, at: datetime) -> Maintenance | None:
        """End or withdraw it, unless it is over; what it is now, or None where there is none.

        Raises StoreUnavailableError.
        """
        ...


class Snapshot(Protocol):
    """One consistent view of everything stored."""

    @property
    def jobs(self) -> JobReader:
        """Jobs."""
        ...

    @property
    def verdicts(self) -> VerdictReader:
        """Verdicts."""
        ...

    @property
    def incidents(self) -> IncidentReader:
        """Incidents."""
        ...

    @property
    def actions(self) -> ActionReader:
        """Actions."""
        ...

    @property
    def maintenance(self) -> MaintenanceReader:
        """Declared maintenance."""
        ...

    def tally(self) -> Tally:
        """Counts for the metrics page."""
        ...


class Records(Protocol):
    """What remediation has stored, for reading. Safe to use from several threads."""

    def reading(self) -> AbstractContextManager[Snapshot]:
        """A snapshot for the length of the block. Raises StoreUnavailableError."""
        ...


class StoreError(Exception):
    """Base of what can go wrong with the database.

    StoreError
    ├── StoreUnavailableError   try again: locked, full, or not reachable now
    ├── StoreDataError          stop for this record: it can never be stored
    └── StoreAddressError       stop: this database can never be used
    """


class StoreUnavailableError(StoreError):
    """The database does not answer now; trying again may help."""


class StoreDataError(StoreError):
    """A record that the database does not take, however often it is offered."""


class StoreAddressError(StoreError):
    """The database's address, or what lies there, can never work; a person has to change it."""
