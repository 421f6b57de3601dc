"""A chore on the host: a backup, a cron job, somebody who has logged in.

It takes some of what the machine has, and is over in minutes; who shares a pipeline with the
machine works differently for as long. So while a host is busier than its peers, a small loss of
work is explained by that, the machine's own and that of others which began at the same time, until
it has cost too much to be borne.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.materiality import lost_seconds
from paramedic.models.departure.character import characters_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.departure import Departure
    from paramedic.diagnosis.departures import NodeEvidence
    from paramedic.ingest.contract import NodeName, Window
    from paramedic.models.departure.model import Departures

_BUSY_NATS = 6.7
"""A host is busy when one row-slot in 800 is as odd."""
_BORNE_SECONDS = 12.0
"""So much work may be lost to a chore."""
_LONGEST_SECONDS = 240
"""A host that is busier for longer has no chore."""
_SUSPECT = 1 / 3
_TOGETHER_SECONDS = 12


def busy_hosts(slot: Departures | None, pace: int) -> frozenset[NodeName]:
    """The nodes whose hosts do more than their peers' in this slot of host rows."""
    if slot is None or not slot.characters.usage.any():
        return frozenset()
    is_usage = slot.characters.usage
    odd = (slot.nats[pace][is_usage] >= _BUSY_NATS) & (slot.deviation[pace][is_usage] > 0)
    return frozenset(slot.rows[at].node for at in np.flatnonzero(odd.any(axis=0)))


def is_chore(
    departure: Departure,
    window: Window,
    busy: frozenset[NodeName],
    standing: Mapping[NodeName, NodeEvidence],
) -> bool:
    """Whether a busy host, its own or another's, explains what a machine does less or more."""
    loud = characters_of(departure.loud)
    if departure.node in busy and (loud.usage | loud.disk).all():
        return departure.seconds < _LONGEST_SECONDS
    if not busy or not loud.work.all():
        return False
    is_theirs = departure.node in busy or any(
        _began_together(departure, standing.get(node)) for node in busy
    )
    return is_theirs and lost_seconds(window, departure) < _BORNE_SECONDS


def _began_together(departure: Departure, other: NodeEvidence | None) -> bool:
    return (
        other is not None
        and other.strength >= _SUSPECT
        and abs(other.since - departure.since) <= _TOGETHER_SECONDS
    )
