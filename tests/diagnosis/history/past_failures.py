"""Verdicts about nodes that fail now and then, over days, made without telemetry."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from paramedic.diagnosis.contract import Fault, Phase, Severity, Tier, Verdict
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.finding import Finding
from paramedic.diagnosis.history.fleet import FleetHistory
from paramedic.diagnosis.history.settings import HistorySettings
from paramedic.diagnosis.history.watch import FailureHistory
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch

START = 1_790_000_000
HOUR = 3600
DAY = 24 * HOUR
JOB = JobName("llama")


def name(number: int) -> NodeName:
    return NodeName(f"node-{number:04d}")


def at(second: float) -> datetime:
    return datetime.fromtimestamp(START + second, UTC)


def finding(
    node: int, second: float, fault: Fault = Fault.HANG, confidence: float = 0.9
) -> Finding:
    return Finding(
        node=name(node),
        rank=node,
        generation=0,
        fault=fault,
        phase=Phase.FAILED,
        tier=Tier.KNOWN_ERROR if fault is Fault.ECC_ERROR else Tier.HEARTBEAT,
        confidence=confidence,
        onset=at(second - 10),
        detected_at=at(second),
        summary="it failed",
        candidates=(),
        evidence=(),
        severity=Severity.P1,
    )


def failure(node: int, second: float, fault: Fault = Fault.HANG, job: JobName = JOB) -> Verdict:
    (verdict,) = Docket(job).report(finding(node, second, fault))
    return verdict


def batch(second: float, nodes: int = 64, job: JobName = JOB) -> TelemetryBatch:
    table = Table(Entity.NODE, tuple(map(name, range(nodes))), None, {"cpu": (0.5,) * nodes})
    return TelemetryBatch(job, 0, START + int(second), (table,))


class Watched:
    """A job of 64 nodes, watched for as long as a test tells of it."""

    def __init__(
        self,
        settings: HistorySettings | None = None,
        fleet: FleetHistory | None = None,
        job: JobName = JOB,
        nodes: int = 64,
    ) -> None:
        self.fleet = fleet or FleetHistory(settings or HistorySettings())
        self.history = FailureHistory(job, self.fleet)
        self.docket = Docket(job)
        self.job, self.nodes = job, nodes
        self.pass_until(0)

    def pass_until(self, second: float) -> list[Verdict]:
        return list(self.history.see(batch(second, self.nodes, self.job), self.docket))

    def fail(self, node: int, second: float, fault: Fault = Fault.HANG) -> list[Verdict]:
        """The node fails, and is well again."""
        self.pass_until(second)
        verdict = failure(node, second, fault, self.job)
        return list(self.history.follow([verdict], self.docket))

    def play(self, failures: Sequence[tuple[int, float]]) -> list[Verdict]:
        return [one for node, second in failures for one in self.fail(node, second)]


class StopAfter:
    """Lets the loop turn a few times."""

    def __init__(self, turns: int) -> None:
        self._left = turns

    def is_set(self) -> bool:
        self._left -= 1
        return self._left < 0
