"""A GPU that has fallen off its bus: a fact of the exporters' presence, not a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Candidate, Evidence, Fault, Phase, Tier
from paramedic.diagnosis.finding import Finding
from paramedic.ingest.contract import EventKind

if TYPE_CHECKING:
    from paramedic.ingest.contract import Event

_CONFIDENCE = 0.97
"""The node's other cards are still reported; only an exporter that miscounts looks alike."""


def judge_card(event: Event, generation: int) -> Finding | None:
    """The accusation by a `gpu_lost`; else nothing."""
    if not _speaks_of_card(event, "gpu_lost") or event.node is None:
        return None
    uuid = event.details.get("uuid")
    named = f" ({uuid})" if uuid else ""
    return Finding(
        node=event.node,
        rank=event.rank,
        generation=generation,
        fault=Fault.GPU_CARD_DROP,
        phase=Phase.FAILED,
        tier=Tier.KNOWN_ERROR,
        confidence=_CONFIDENCE,
        onset=event.timestamp,
        detected_at=event.timestamp,
        summary=f"GPU {event.gpu} of {event.node}{named} is no longer reported, while the node is",
        candidates=(Candidate(event.node, 1.0),),
        evidence=(Evidence("gpu_lost", 1.0, 0.0, 0.0, event.timestamp),),
        gpu=event.gpu,
    )


def is_return(event: Event) -> bool:
    """Whether the event says that a GPU is there again."""
    return _speaks_of_card(event, "gpu_returned")


def _speaks_of_card(event: Event, change: str) -> bool:
    is_change = event.kind is EventKind.TELEMETRY and event.details.get("change") == change
    return is_change and event.node is not None and event.gpu is not None
