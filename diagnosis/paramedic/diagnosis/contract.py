"""What diagnosis produces: the verdict (formats, section 3) and the port of a detector.

Standard library only. A verdict is one JSON object, the same everywhere: on the verdict topic,
in REST, in the event stream and on standard output.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from paramedic.ingest.contract import (
    UNREADABLE,
    JobName,
    NodeName,
    format_time,
    named,
    parse_time,
    why_not,
)

if TYPE_CHECKING:
    from datetime import datetime

    from paramedic.ingest.contract import Event, TelemetryBatch

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ID_LENGTH = 26


class Scope(StrEnum):
    """What a verdict speaks of."""

    GPU = "gpu"
    NODE = "node"
    GROUP = "group"
    JOB = "job"


class Status(StrEnum):
    """Where a verdict is in its life."""

    FIRING = "firing"
    UPDATED = "updated"
    RESOLVED = "resolved"


class Phase(StrEnum):
    """How far the fault has come."""

    SYMPTOM = "symptom"
    """Still running, not yet failed."""
    DEGRADED = "degraded"
    """Running slower."""
    FAILED = "failed"


class Tier(StrEnum):
    """Which kind of evidence decided."""

    HEARTBEAT = "heartbeat"
    PATTERN = "pattern"
    APPLICATION = "application"
    KNOWN_ERROR = "known_error"


class Severity(StrEnum):
    """How fast somebody should answer."""

    P0 = "P0"
    """The job cannot go on: 5 minutes."""
    P1 = "P1"
    """One node is failing: 30 minutes."""
    P2 = "P2"
    """A trend."""


class Fault(StrEnum):
    """Fault families: a machine's first, then a job's or group's."""

    ECC_ERROR = "ecc_error"
    CUDA_EXECUTION_ERROR = "cuda_execution_error"
    GPU_EXECUTION_ERROR = "gpu_execution_error"
    PCIE_DOWNGRADE = "pcie_downgrade"
    NIC_DROPOUT = "nic_dropout"
    GPU_CARD_DROP = "gpu_card_drop"
    NVLINK_ERROR = "nvlink_error"
    AOC_ERROR = "aoc_error"
    STORAGE_ERROR = "storage_error"
    MACHINE_UNREACHABLE = "machine_unreachable"
    THERMAL_THROTTLE = "thermal_throttle"
    HOST_CONTENTION = "host_contention"
    PROCESS_EXIT = "process_exit"
    HANG = "hang"
    STRAGGLER = "straggler"
    TELEMETRY_LOST = "telemetry_lost"
    NODE_FAILURE_RATE = "node_failure_rate"
    UNKNOWN = "unknown"
    NETWORK_GROUP = "network_group"
    THROUGHPUT_DROP = "throughput_drop"
    RECOVERY_OVERDUE = "recovery_overdue"
    RECOVERY_FAILED = "recovery_failed"
    CHECKPOINT_FAILED = "checkpoint_failed"
    LOSS_DIVERGENCE = "loss_divergence"
    GRADIENT_EXPLOSION = "gradient_explosion"
    DATA_STALL = "data_stall"
    CONFIGURATION_JUMP = "configuration_jump"
    GOODPUT_LOW = "goodput_low"
    FAILURE_RATE_RISING = "failure_rate_rising"


class RecommendedAction(StrEnum):
    """What diagnosis would do; remediation decides."""

    NONE = "none"
    NOTIFY = "notify"
    RECOVER_IN_PROCESS = "recover_in_process"
    REPLACE_RANK = "replace_rank"
    REPLACE_NODE = "replace_node"
    SHRINK = "shrink"
    RESTART_PROCESS = "restart_process"
    RESET_GPU = "reset_gpu"
    REBOOT_NODE = "reboot_node"
    CORDON_NODE = "cordon_node"
    DRAIN_NODE = "drain_node"
    RUN_TEST = "run_test"
    HAND_OVER = "hand_over"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that came into question, with its evidence."""

    node: NodeName
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """One metric that speaks for the verdict."""

    metric: str
    value: float | None
    """What the machine showed, in the metric's unit; None where nothing was observed."""
    peers: float | None
    """What its peers showed at the same time."""
    deviation: float
    """In robust standard deviations."""
    since: datetime


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The recommended action with its reason."""

    recommended: RecommendedAction
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judgement about a machine, a group or a job, through its whole life."""

    id: str
    job: JobName
    generation: int
    scope: Scope
    node: NodeName | None
    gpu: int | None
    members: tuple[NodeName, ...]
    status: Status
    phase: Phase
    fault: Fault
    tier: Tier
    severity: Severity
    confidence: float
    onset: datetime
    detected_at: datetime
    summary: str
    candidates: tuple[Candidate, ...]
    evidence: tuple[Evidence, ...]
    action: Recommendation
    rank: int | None = field(default=None)
    """The rank that the node carried, where one is known (optional field)."""
    first_detected_at: datetime | None = field(default=None)
    """`detected_at` of the first firing, which stays when that moves on (optional field)."""
    failed_at: datetime | None = field(default=None)
    """Since when the job stands or has ended by what was a symptom before (optional field)."""

    def to_json(self) -> bytes:
        """The verdict as a single line of JSON, times in RFC 3339."""
        return json.dumps(self.to_dict()).encode()

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain JSON values, in the field order of formats, section 3."""
        fields: dict[str, Any] = {
            "id": self.id,
            "job": self.job,
            "generation": self.generation,
            "scope": self.scope.value,
            "node": self.node,
            "gpu": self.gpu,
            "members": list(self.members),
            "status": self.status.value,
            "phase": self.phase.value,
            "fault": self.fault.value,
            "tier": self.tier.value,
            "severity": self.severity.value,
            "confidence": self.confidence,
            "onset": format_time(self.onset),
            "detected_at": format_time(self.detected_at),
            "summary": self.summary,
            "candidates": [{"node": c.node, "score": c.score} for c in self.candidates],
            "evidence": [
                {
                    "metric": e.metric,
                    "value": e.value,
                    "peers": e.peers,
                    "deviation": e.deviation,
                    "since": format_time(e.since),
                }
                for e in self.evidence
            ],
            "action": {
                "recommended": self.action.recommended.value,
                "reason": self.action.reason,
            },
        }
        if self.rank is not None:
            fields["rank"] = self.rank
        if self.first_detected_at is not None:
            fields["first_detected_at"] = format_time(self.first_detected_at)
        if self.failed_at is not None:
            fields["failed_at"] = format_time(self.failed_at)
        return fields

    @classmethod
    def from_json(cls, payload: bytes) -> Verdict:
        """Read one line of JSON. Raises VerdictFormatError when it is not a verdict."""
        try:
            return cls.from_dict(json.loads(payload))
        except UNREADABLE as error:
            why = why_not(error)
            raise VerdictFormatError(f"not a verdict: {payload[:120]!r}: {why}") from error

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Verdict:
        """The inverse of `to_dict`; unknown fields of newer writers are ignored.

        Raises KeyError, TypeError or ValueError where a field is missing or is not what it must be.
        """
        return cls(
            id=_typed(fields, "id", str),
            job=JobName(_typed(fields, "job", str)),
            generation=_typed(fields, "generation", int),
            scope=Scope(fields["scope"]),
            node=_typed(fields, "node", str, _NOTHING),
            gpu=_typed(fields, "gpu", int, _NOTHING),
            members=tuple(named(one, "members", str) for one in fields["members"]),
            status=Status(fields["status"]),
            phase=Phase(fields["phase"]),
            fault=Fault(fields["fault"]),
            tier=Tier(fields["tier"]),
            severity=Severity(fields["severity"]),
            confidence=_typed(fields, "confidence", float, int),
            onset=parse_time(fields["onset"]),
            detected_at=parse_time(fields["detected_at"]),
            summary=_typed(fields, "summary", str),
            candidates=tuple(_candidate(one) for one in fields["candidates"]),
            evidence=tuple(_evidence(one) for one in fields["evidence"]),
            action=Recommendation(
                RecommendedAction(fields["action"]["recommended"]),
                _typed(fields["action"], "reason", str),
            ),
            rank=named(fields.get("rank"), "rank", int, _NOTHING),
            first_detected_at=_time_or_none(fields.get("first_detected_at")),
            failed_at=_time_or_none(fields.get("failed_at")),
        )


_NOTHING = type(None)


def _typed(fields: dict[str, Any], name: str, *kinds: type) -> Any:
    """The field, if it is of one of the types. Raises KeyError, or TypeError naming the field."""
    return named(fields[name], name, *kinds)


def _candidate(fields: dict[str, Any]) -> Candidate:
    return Candidate(
        NodeName(_typed(fields, "node", str)), float(_typed(fields, "score", float, int))
    )


def _evidence(fields: dict[str, Any]) -> Evidence:
    return Evidence(
        metric=_typed(fields, "metric", str),
        value=_typed(fields, "value", float, int, _NOTHING),
        peers=_typed(fields, "peers", float, int, _NOTHING),
        deviation=_typed(fields, "deviation", float, int),
        since=parse_time(fields["since"]),
    )


def _time_or_none(text: str | None) -> datetime | None:
    return None if text is None else parse_time(text)


class VerdictFormatError(ValueError):
    """A message is not a verdict."""


def verdict_id(
    job: JobName,
    generation: int,
    scope: Scope,
    node: NodeName | None,
    members: Sequence[NodeName],
    gpu: int | None,
    detected_at: datetime,
) -> str:
    """First 26 Crockford base-32 characters of SHA-256 (formats, section 3).

    `detected_at` is that of the first firing; the id never changes through the verdict's life.
    """
    subject = node if node is not None else ",".join(sorted(members))
    text = "|".join(
        (
            job,
            str(generation),
            scope.value,
            subject,
            "" if gpu is None else str(gpu),
            format_time(detected_at),
        )
    )
    digest = hashlib.sha256(text.encode()).digest()
    number = int.from_bytes(digest, "big")
    bits = 8 * len(digest)
    return "".join(_CROCKFORD[(number >> (bits - 5 * (i + 1))) & 31] for i in range(_ID_LENGTH))


class Detector(Protocol):
    """Watches one job; the same object serves live streams and replays.

    Telemetry and events go in one by one, in the order of their arrival, and verdicts come out,
    each change once. A detector never looks ahead and asks no clock: the same messages in the same
    order give the same verdicts with the same ids. The suite that every detector passes is
    tests/contracts/test_detector_contract.py.
    """

    name: str

    def accept(self, batch: TelemetryBatch, arrived_seconds: float) -> Sequence[Verdict]:
        """Take a batch in; `arrived_seconds` is when the observer received it (Unix seconds).

        Returns what is decided by it. Batches may come out of order.
        """
        ...

    def record(self, event: Event) -> Sequence[Verdict]:
        """Take an event in; returns what is decided by it."""
        ...

    def adopt(self, verdicts: Sequence[Verdict]) -> None:
        """Take these verdicts for the open ones, in place of what was open.

        A predecessor has told them; what it decided is gone on with under their ids.
        """
        ...
