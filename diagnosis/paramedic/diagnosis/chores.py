"""A chore on the host: a backup, a cron job, somebody who has logged in.

It takes some of what the machine has, and is over in minutes; who shares a pipeline with the
machine works differently for as long. So while a host is busier than its peers, a small loss of
work is explained by that, the machine's own and that of others which began at the same time, until
it has cost too much to be borne, or the whole job is slower since.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.cost import CHORE_SECONDS
from paramedic.models.departure.character import OF_WORK, About

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.cost import Cost
    from paramedic.diagnosis.departure import Departure
    from paramedic.diagnosis.node_evidence import NodeEvidence
    from paramedic.ingest.contract import NodeName
    from paramedic.models.departure.model import Departures

_BUSY_NATS = 6.7
"""A host is busy when one row-slot in 800 is as odd."""
_REMEMBERED_SECONDS = 30
"""A host of which nothing was heard lately is as busy as it was."""
_STILL_SECONDS = 15
"""So long after it was last seen to be busy it still is."""
_MOSTLY = 0.9
_SOME = 0.3
"""A chore takes memory as well, and whatever takes nothing else is none."""
_OF_A_CHORE = (*OF_WORK, About.USAGE, About.DISK, About.CONGESTION)
"""What a chore on the host can change."""
_OF_NOBODY = (*OF_WORK, About.USAGE, About.CONGESTION)
"""What may last as long as it likes while the job goes on as before."""


@dataclass(slots=True)
class Chores:
    """Which hosts are busier than their peers."""

    _last: dict[NodeName, int] = field(default_factory=dict)
    """When each was last seen to be busy."""
    _second: int = 0

    def look(self, slot: Departures | None, pace: int, second: int) -> None:
        """Take a slot of host rows in."""
        self._second = second
        if slot is None or not slot.characters.usage.any():
            return
        is_usage = slot.characters.usage
        odd = slot.nats[pace][is_usage] >= _BUSY_NATS
        if np.count_nonzero(odd):
            odd &= slot.deviation(pace)[is_usage] > 0
            for at in np.flatnonzero(odd.any(axis=0)).tolist():
                self._last[slot.rows[at].node] = second

    def is_busy(self, node: NodeName) -> bool:
        """Whether the host is busier than its peers now."""
        return self._last.get(node, -_STILL_SECONDS) > self._second - _STILL_SECONDS

    def explain(
        self, departure: Departure, standing: Mapping[NodeName, NodeEvidence], cost: Cost
    ) -> bool:
        """Whether a busy host, its own or another's, explains what a machine does differently."""
        since = self._second - _REMEMBERED_SECONDS
        busy = [node for node, last in self._last.items() if last >= since]
        if departure.node in busy:
            is_theirs = departure.share_of(*_OF_A_CHORE) >= _MOSTLY or (
                departure.share_of(*_OF_A_CHORE, About.FOOTPRINT) >= _MOSTLY
                and departure.share_of(About.USAGE, About.DISK) >= _SOME
            )
        else:
            is_theirs = departure.share_of(*OF_WORK) >= _MOSTLY and any(
                standing[node].began_about(departure.since) for node in busy if node in standing
            )
        is_short = departure.seconds < CHORE_SECONDS
        is_nobodys = departure.share_of(*_OF_NOBODY) >= _MOSTLY and cost.is_known_of_job
        return is_theirs and (is_short or is_nobodys) and cost.is_borne


def does_not_decide_otherwise(departure: Departure, cost: Cost) -> bool:
    """Whether a host is busy, and what else it shows would not have decided by itself.

    What it works less does not count either, as long as that is little.
    """
    if departure.made_by(About.USAGE) < _SOME:
        return False
    if not cost.is_known_of_job and departure.seconds >= CHORE_SECONDS:
        return False
    if not cost.is_borne_by_job or not cost.is_borne_by_disks:
        return False
    harmless = departure.made_by(About.USAGE, *(OF_WORK if cost.is_borne_by_itself else ()))
    return departure.nats * (1 - harmless) < departure.level
