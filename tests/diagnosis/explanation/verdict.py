"""A verdict for tests of explanations, and curves of what stands behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from api.verdicts import a_verdict as a_hang
from paramedic.diagnosis.contract import (
    Candidate,
    Evidence,
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Scope,
    Tier,
    Verdict,
)
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch

START = 1_767_225_600
"""2026-01-01T00:00:00Z"""
TENSOR, POWER = "gpu_tensor_active_ratio", "gpu_power_watts"


def at(second: float) -> datetime:
    return datetime.fromtimestamp(START + second, UTC)


_SLOW_GPU = a_hang(
    job=JobName("llama-7b"),
    scope=Scope.GPU,
    node=NodeName("a"),
    gpu=1,
    phase=Phase.SYMPTOM,
    fault=Fault.ECC_ERROR,
    tier=Tier.PATTERN,
    confidence=0.97,
    onset=at(72),
    detected_at=at(81),
    summary="GPU 1 of a lost 41 % tensor activity",
    candidates=(Candidate(NodeName("a"), 41.2), Candidate(NodeName("b"), 1.1)),
    evidence=(
        Evidence(TENSOR, 0.21, 0.36, -9.8, at(73)),
        Evidence("gpu_temperature_celsius", 61.0, 60.0, 0.5, at(74)),
        Evidence(POWER, 300.0, 500.0, -12.0, at(75)),
    ),
    action=Recommendation(RecommendedAction.REPLACE_NODE, "it computes wrongly"),
)


def a_verdict(**changes: Any) -> Verdict:
    """About GPU 1 of node a, or what these fields make of it."""
    return replace(_SLOW_GPU, **changes)


def batches(seconds: int = 120, gone: frozenset[str] = frozenset()) -> Iterator[TelemetryBatch]:
    """Nodes a to e with two GPUs and one rank; GPU 1 of a loses activity at 72; `gone` leave then.

    Whoever is fast shows a tensor activity of 0.40, 0.41, …, row after row.
    """
    for second in range(seconds):
        names = [NodeName(name) for name in "abcde" if second < 72 or name not in gone]
        rows = [(node, gpu) for node in names for gpu in (0, 1)]
        active = [
            0.2 if second >= 72 and row == ("a", 1) else 0.4 + number / 100
            for number, row in enumerate(rows)
        ]
        gpus = Table(
            Entity.GPU,
            tuple(node for node, _ in rows),
            tuple(gpu for _, gpu in rows),
            {TENSOR: active, POWER: [1000 * one for one in active]},
        )
        beats = Table(
            Entity.RANK,
            tuple(names),
            tuple(range(len(names))),
            {"heartbeat": [float(1 + second)] * len(names)},
        )
        yield TelemetryBatch(JobName("llama-7b"), 0, START + second, (gpus, beats))
