"""What has to be kept of a job's windows so that another process can go on with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from paramedic.ingest.contract import Entity, JobName, NodeName
from paramedic.ingest.windows.roster import RosterSnapshot
from paramedic.ingest.windows.slots import SlotsSnapshot
from paramedic.ingest.windows.timeline import TimelineSnapshot


@dataclass(frozen=True, slots=True)
class WindowsSnapshot:
    """The state of JobWindows. Nothing in it is shared with the object it was taken from."""

    job: JobName
    sampling_seconds: int
    roster: RosterSnapshot
    timeline: TimelineSnapshot
    slots: tuple[SlotsSnapshot, ...]
    counts: Counter[str]
    late: Mapping[Entity, Mapping[NodeName, int]] = field(default_factory=dict)
    """See JobWindows.late."""
