"""What a cadence means for the time until a failing machine is named."""

from __future__ import annotations

from paramedic.ingest.collect.cadence import grid_for

PROMISED_SECONDS = 60.0
"""Detection within a minute."""
EVIDENCE_SLOTS = 4
"""So many samples have to agree; a window holds no fewer either."""
LATENESS_SECONDS = 3.0
"""A slot stays open so long for those that come late."""
SETTLE_SECONDS = 1.0
"""A second waits so long for its last pages before it is published."""


def detection_seconds(interval_seconds: float) -> float:
    """From a symptom to a verdict, for samples that come so often; an estimate, at its best.

    One slot until the symptom is sampled, four that agree, then lateness and settling:
    `5 × slot + 4 s`, with the slot that fits the interval.

    >>> [detection_seconds(interval) for interval in (1, 5, 10, 15)]
    [9.0, 29.0, 54.0, 79.0]
    """
    slot = grid_for(interval_seconds)
    return (1 + EVIDENCE_SLOTS) * slot + LATENESS_SECONDS + SETTLE_SECONDS


def is_fast_enough(interval_seconds: float) -> bool:
    """Whether a failing machine could be named within the minute.

    >>> is_fast_enough(10), is_fast_enough(15)
    (True, False)
    """
    return detection_seconds(interval_seconds) <= PROMISED_SECONDS
