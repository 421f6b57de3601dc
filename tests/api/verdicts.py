"""One verdict for the tests of the edge, and variations of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from paramedic.diagnosis.contract import (
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Scope,
    Severity,
    Status,
    Tier,
    Verdict,
)
from paramedic.ingest.contract import JobName, NodeName

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
_HANG = Verdict(
    id="7Q0JT2M9ZB4N6W8XKCVFR1DH3A",
    job=JobName("train"),
    generation=0,
    scope=Scope.NODE,
    node=NodeName("node-0002"),
    gpu=None,
    members=(),
    status=Status.FIRING,
    phase=Phase.FAILED,
    fault=Fault.HANG,
    tier=Tier.HEARTBEAT,
    severity=Severity.P1,
    confidence=0.971,
    onset=NOON,
    detected_at=NOON,
    summary="it is silent",
    candidates=(),
    evidence=(),
    action=Recommendation(RecommendedAction.REPLACE_RANK, "a spare is warm"),
)


def a_verdict(**changes: Any) -> Verdict:
    """A hang of node-0002, or what these fields make of it."""
    return replace(_HANG, **changes)
