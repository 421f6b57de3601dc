"""What the demo sees from outside: messages of the bus and when they arrived."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paramedic.diagnosis.contract import Verdict, VerdictFormatError
from paramedic.ingest.contract import (
    ContractError,
    Entity,
    Event,
    Message,
    TelemetryBatch,
    Topic,
)


@dataclass(frozen=True, slots=True)
class Observed:
    """One message and the observer's clock when it arrived."""

    at_seconds: float
    said: TelemetryBatch | Event | Verdict


@dataclass(frozen=True, slots=True)
class Injection:
    """What was done to whom; only the demo knows."""

    at_seconds: float
    rank: int
    node: str
    generation: int


def read_message(
    message: Message, at_seconds: float, read_batch: Callable[[bytes], TelemetryBatch]
) -> Observed | None:
    """The message with its meaning; None for what cannot be read (the dead letters have it)."""
    try:
        if message.topic is Topic.TELEMETRY:
            return Observed(at_seconds, read_batch(message.payload))
        if message.topic is Topic.EVENTS:
            return Observed(at_seconds, Event.from_json(message.payload))
        if message.topic is Topic.VERDICTS:
            return Observed(at_seconds, Verdict.from_json(message.payload))
    except (ContractError, VerdictFormatError):
        return None
    return None


def newest_step(batch: TelemetryBatch) -> int | None:
    """The highest step that a rank reports in the batch."""
    steps = [
        value
        for table in batch.tables
        if table.entity is Entity.RANK
        for value in table.columns.get("step", ())
        if value == value
    ]
    return int(max(steps)) if steps else None
