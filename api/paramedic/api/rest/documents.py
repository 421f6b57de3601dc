"""What the API answers with, as pydantic models: the outermost edge only."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from paramedic.diagnosis.contract import (
    Fault,
    Phase,
    RecommendedAction,
    Scope,
    Severity,
    Status,
    Tier,
)
from paramedic.ingest.contract import JobState
from paramedic.remediation.contract import ActionState, IncidentState


def _example(**fields: Any) -> ConfigDict:
    return ConfigDict(from_attributes=True, json_schema_extra={"examples": [fields]})


_JOB = {
    "name": "llama-7b",
    "state": "training",
    "generation": 1,
    "world_size": 4,
    "started_at": "2026-01-01T00:00:00Z",
    "ended_at": None,
    "step": 1200,
    "goodput": 0.98,
}
_STAY = {"node": "node-0004", "rank": 2, "since": "2026-01-01T00:11:22Z", "until": None}
_INCIDENT = {
    "id": "inc-7Q0JT2M9ZB4N6W8XKCVFR1DH3A",
    "job": "llama-7b",
    "state": "acting",
    "severity": "P1",
    "fault": "hang",
    "nodes": ["node-0002"],
    "verdicts": ["7Q0JT2M9ZB4N6W8XKCVFR1DH3A"],
    "opened_at": "2026-01-01T00:11:12Z",
    "closed_at": None,
    "summary": "node-0002 sends no heart-beat and takes no step",
    "detected_at": "2026-01-01T00:11:22Z",
    "taken_over_by": ["node-0004"],
}
_ACTION = {
    "id": "act-0b54c7e1f6f8a2d93c1b7a60",
    "incident": "inc-7Q0JT2M9ZB4N6W8XKCVFR1DH3A",
    "kind": "replace_rank",
    "target": "node-0002",
    "launcher": "local",
    "state": "succeeded",
    "dry_run": False,
    "idempotency_key": "7Q0JT2M9ZB4N6W8XKCVFR1DH3A:replace_rank",
    "requested_by": "policy",
    "approved_by": None,
    "calls": ["replace node-0002"],
    "result": "node-0002 carries no rank any more",
    "details": {},
}


class JobDocument(BaseModel):
    """A training job."""

    model_config = _example(**_JOB)

    name: str
    state: JobState | None = Field(description="null until the job has said what it does.")
    generation: int = Field(description="Grows by one at every recovery.")
    world_size: int | None = Field(
        description="Nodes that carry a rank now; null where nobody tells of ranks."
    )
    started_at: datetime
    ended_at: datetime | None
    step: int | None = Field(description="The newest step that is known to be done.")
    goodput: float | None = Field(
        description="Productive share of the wall time, 0..1; null where unknown."
    )


class StayDocument(BaseModel):
    """A node's time in a job with one rank, or as a spare."""

    model_config = _example(**_STAY)

    node: str
    rank: int | None = Field(description="null for a spare.")
    since: datetime
    until: datetime | None = Field(description="null while it lasts.")


class JobDetailDocument(JobDocument):
    """A training job and where its ranks are and were."""

    model_config = _example(**_JOB, placements=[_STAY])

    placements: list[StayDocument] = Field(description="The present ones first.")


class JobListDocument(BaseModel):
    """Jobs, newest start first."""

    model_config = _example(jobs=[_JOB])

    jobs: list[JobDocument]


class CandidateDocument(BaseModel):
    """A node that came into question."""

    node: str
    score: float


class EvidenceDocument(BaseModel):
    """One metric that speaks for the verdict."""

    metric: str
    value: float | None
    peers: float | None
    deviation: float = Field(description="In robust standard deviations.")
    since: datetime


class RecommendationDocument(BaseModel):
    """What diagnosis would do."""

    recommended: RecommendedAction
    reason: str


_VERDICT = {
    "id": "7Q0JT2M9ZB4N6W8XKCVFR1DH3A",
    "job": "llama-7b",
    "generation": 0,
    "scope": "node",
    "node": "node-0002",
    "gpu": None,
    "members": [],
    "status": "firing",
    "phase": "failed",
    "fault": "hang",
    "tier": "heartbeat",
    "severity": "P1",
    "confidence": 0.99,
    "onset": "2026-01-01T00:11:12Z",
    "detected_at": "2026-01-01T00:11:22Z",
    "summary": "node-0002 sends no heart-beat and takes no step",
    "candidates": [{"node": "node-0002", "score": 41.2}],
    "evidence": [
        {
            "metric": "heartbeat",
            "value": None,
            "peers": 1.0,
            "deviation": -9.8,
            "since": "2026-01-01T00:11:12Z",
        }
    ],
    "action": {"recommended": "replace_rank", "reason": "the rank is stuck"},
    "rank": 2,
    "first_detected_at": "2026-01-01T00:11:22Z",
}


class VerdictDocument(BaseModel):
    """One judgement, exactly as on the verdict topic. Newer writers may add fields."""

    model_config = _example(**_VERDICT)

    id: str
    job: str
    generation: int
    scope: Scope
    node: str | None
    gpu: int | None
    members: list[str]
    status: Status
    phase: Phase
    fault: Fault
    tier: Tier
    severity: Severity
    confidence: float = Field(description="0..1.")
    onset: datetime
    detected_at: datetime
    summary: str
    candidates: list[CandidateDocument]
    evidence: list[EvidenceDocument]
    action: RecommendationDocument
    rank: int | None = Field(default=None, description="Absent where it is not known.")
    first_detected_at: datetime | None = Field(
        default=None,
        description="`detected_at` of the first firing. Absent in what older writers said.",
    )
    failed_at: datetime | None = Field(
        default=None,
        description="Since when the job stands or has ended by what was a symptom before. Absent"
        " otherwise.",
    )


class VerdictListDocument(BaseModel):
    """Verdicts, newest `detected_at` first."""

    model_config = _example(verdicts=[_VERDICT])

    verdicts: list[VerdictDocument]


class IncidentDocument(BaseModel):
    """Verdicts with one cause."""

    model_config = _example(**_INCIDENT)

    id: str
    job: str
    state: IncidentState
    severity: Severity = Field(description="The worst of its verdicts.")
    fault: Fault
    nodes: list[str]
    verdicts: list[str] = Field(description="Ids, oldest first.")
    opened_at: datetime = Field(description="The earliest onset.")
    closed_at: datetime | None = Field(description="null while a verdict of it is not resolved.")
    summary: str
    detected_at: datetime | None = Field(
        default=None, description="When the first of its verdicts fired."
    )
    taken_over_by: list[str] = Field(
        default_factory=list, description="The nodes that carry on the ranks of its nodes."
    )


class ActionDocument(BaseModel):
    """One intended outside effect."""

    model_config = _example(**_ACTION)

    id: str
    incident: str
    kind: RecommendedAction
    target: str = Field(description="A node, or * for none in particular.")
    launcher: str
    state: ActionState
    dry_run: bool
    idempotency_key: str
    requested_by: str
    approved_by: str | None
    calls: list[str] = Field(description="The exact calls that were or would be made.")
    result: str | None
    details: dict[str, Any] = Field(description="How far it has come.")


class IncidentDetailDocument(IncidentDocument):
    """An incident and what was done about it."""

    model_config = _example(**_INCIDENT, actions=[_ACTION])

    actions: list[ActionDocument] = Field(description="Oldest first.")


class IncidentListDocument(BaseModel):
    """Incidents, newest first."""

    model_config = _example(incidents=[_INCIDENT])

    incidents: list[IncidentDocument]


_Name = Annotated[str, StringConstraints(min_length=1, max_length=253, pattern=r"^[^\x00-\x20*]+$")]
_ASKED = {
    "nodes": ["node-0007", "node-0008"],
    "job": None,
    "begins": "2026-01-01T22:00:00Z",
    "ends": "2026-01-02T02:00:00Z",
    "reason": "new optics",
}
_MAINTENANCE = {
    "id": "mnt-3b1f0a77c25de910",
    **_ASKED,
    "declared_at": "2026-01-01T09:12:00Z",
    "ended_at": None,
    "phase": "planned",
    "told_jobs": ["llama-7b"],
}


class MaintenancePhase(StrEnum):
    """Where maintenance is in its life."""

    PLANNED = "planned"
    LASTING = "lasting"
    OVER = "over"


class MaintenanceRequestDocument(BaseModel):
    """Maintenance to be declared: of nodes, of a job, or of nodes within one job."""

    model_config = _example(**_ASKED) | ConfigDict(extra="forbid")

    nodes: list[_Name] = Field(default_factory=list, max_length=10_000)
    job: _Name | None = Field(default=None, description="Without nodes: the whole job.")
    begins: AwareDatetime | None = Field(default=None, description="null: now.")
    ends: AwareDatetime
    reason: str = Field(min_length=1, max_length=500)

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.nodes and self.job is None:
            raise ValueError("name nodes, a job, or both")
        return self


class MaintenanceDocument(BaseModel):
    """Declared maintenance."""

    model_config = _example(**_MAINTENANCE)

    id: str
    nodes: list[str] = Field(description="Empty where the whole job is meant.")
    job: str | None = Field(description="null: in whichever job the nodes are.")
    begins: datetime
    ends: datetime
    reason: str
    declared_at: datetime
    ended_at: datetime | None = Field(description="null unless it was ended by hand.")
    phase: MaintenancePhase
    told_jobs: list[str] = Field(description="The jobs whose diagnosis has been told.")


class MaintenanceListDocument(BaseModel):
    """Declared maintenance, the one that begins last first."""

    model_config = _example(maintenance=[_MAINTENANCE])

    maintenance: list[MaintenanceDocument]


class HealthDocument(BaseModel):
    """What is alive."""

    model_config = _example(status="ok", alive={"database": True, "remediate": True, "bus": True})

    status: str = Field(description="ok; what is not alive is answered with status 503.")
    alive: dict[str, bool]
