"""What jobs are told of declared maintenance."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from paramedic.ingest.contract import JobName, NodeName


class Change(StrEnum):
    """What a word says."""

    DECLARED = "declared"
    ENDED = "ended"
    """By hand, before its time."""


@dataclass(frozen=True, slots=True)
class Word:
    """What one job was told about one node."""

    job: JobName
    node: NodeName | None
    """None: the whole job."""
    change: Change
    told_at: datetime
