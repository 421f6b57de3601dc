"""Whose clock is off: what it does looks odd in every slot, and is what its peers do."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.clock_shift import is_shifted
from paramedic.models.departure.character import OF_WORK

if TYPE_CHECKING:
    from paramedic.diagnosis.departure import Departure
    from paramedic.diagnosis.roles import JobRoles
    from paramedic.diagnosis.rows_test import RowsTest
    from paramedic.ingest.contract import NodeName, Window

_MOSTLY = 0.5
_ENOUGH_PEERS = 64
_STAYS_SECONDS = 30
"""A clock that was off is off for so long at least."""


@dataclass(slots=True)
class Clocks:
    """When each node's clock was last found to be off."""

    _off: dict[NodeName, int] = field(default_factory=dict)

    def explain(
        self, test: RowsTest, window: Window, departure: Departure, roles: JobRoles | None
    ) -> bool:
        """Whether the machine's clock explains most of what speaks against it, or so much that the
        rest does not decide."""
        of_work = departure.share_of(*OF_WORK)
        if of_work >= _MOSTLY:
            is_off = _is_shifted(test, window, departure, roles)
            if is_off:
                self._off[departure.node] = departure.second
            return is_off
        was_off = self._off.get(departure.node, -math.inf)
        is_off = departure.second - was_off <= _STAYS_SECONDS
        return is_off and departure.nats * (1 - of_work) < departure.level


def _is_shifted(
    test: RowsTest, window: Window, departure: Departure, roles: JobRoles | None
) -> bool:
    assert test.slot is not None  # it has been weighed
    at = window.rows.index(departure.row)
    speaks, works = test.evidence.speakers(at), test.slot.characters.work
    loud = np.flatnonzero(works & (speaks > 0)).tolist()
    metrics = [window.metrics.index(test.slot.metrics[m]) for m in loud]
    circles = test.peers_of(window.rows, roles)
    among = range(len(window.rows)) if circles is None else circles.fellows(at).tolist()
    peers = [one for one in among if window.rows[one].node != departure.node]
    return is_shifted(window, at, peers[:_ENOUGH_PEERS], metrics, departure.since)
