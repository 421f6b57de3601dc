"""A whole history gone through as a live job would be, a block of slots at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.models.pattern.evidence import Evidence, EvidenceStream

if TYPE_CHECKING:
    from paramedic.models.history import JobHistory
    from paramedic.models.pattern.scorer import PatternReader


def evidence_of(reader: PatternReader, history: JobHistory) -> Evidence:
    """Evidence against every machine of the history in every slot."""
    scorer = reader.scorer(history.windows, history.description)
    settings = reader.settings
    stream = EvidenceStream(scorer.panels, history.nodes, settings)
    slots, step = len(history.seconds), settings.block_slots
    parts = [
        stream.advance(scorer.advance(history.windows, slice(at, min(at + step, slots))))
        for at in range(0, slots, step)
    ]
    return Evidence.joined(parts, len(history.nodes))
