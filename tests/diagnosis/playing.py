"""Plays batches and events to a detector as they would arrive, and keeps what it says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diagnosis.synthetic import JOB
from paramedic.diagnosis.contract import Detector, Status, Verdict
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.ingest.contract import Event, TelemetryBatch

Fact = TelemetryBatch | Event


def arrival(fact: Fact) -> float:
    """A batch arrives when its second is over, an event at once."""
    if isinstance(fact, Event):
        return fact.timestamp.timestamp()
    return fact.second + 1.0


def merged(batches: Iterable[TelemetryBatch], events: Iterable[Event] = ()) -> list[Fact]:
    return sorted([*events, *batches], key=arrival)


def tell(detector: Detector, facts: Sequence[Fact]) -> list[Verdict]:
    """Everything the detector says to these facts, in the order given."""
    said: list[Verdict] = []
    now = 0.0
    for fact in facts:
        now = max(now, arrival(fact))
        if isinstance(fact, Event):
            said.extend(detector.record(fact))
        else:
            said.extend(detector.accept(fact, now))
    return said


def diagnose(facts: Sequence[Fact], config: DetectorConfig | None = None) -> list[Verdict]:
    return tell((config or DetectorConfig()).build(JOB), facts)


def firing(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.status is Status.FIRING]
