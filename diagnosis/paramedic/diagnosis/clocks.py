"""Whose clock is off: what it does looks odd in every slot, and is what its peers do."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.clock_shift import is_shifted
from paramedic.models.departure.character import OF_WORK, About, is_about

if TYPE_CHECKING:
    from paramedic.diagnosis.departure import Departure
    from paramedic.diagnosis.roles import JobRoles
    from paramedic.diagnosis.rows_test import RowsTest
    from paramedic.ingest.contract import NodeName, Window

_OF_THE_JOB = (*OF_WORK, About.USAGE, About.FOOTPRINT, About.CONGESTION)
"""What rises and falls with the job's steps, and when it saves its state."""
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
        told = [matters for matters in (OF_WORK, _OF_THE_JOB)
                if departure.share_of(*matters) >= _MOSTLY]  # fmt: skip
        if any(_is_shifted(test, window, departure, roles, matters) for matters in told):
            self._off[departure.node] = departure.second
            return True
        was_off = self._off.get(departure.node, -math.inf)
        is_off = departure.second - was_off <= _STAYS_SECONDS and OF_WORK not in told
        of_job = departure.share_of(*_OF_THE_JOB)
        return is_off and departure.nats * (1 - of_job) < departure.level


def _is_shifted(
    test: RowsTest, window: Window, departure: Departure, roles: JobRoles | None,
    matters: tuple[About, ...],
) -> bool:  # fmt: skip
    at = window.rows.index(departure.row)
    metrics = [at for at, one in enumerate(window.metrics)
               if one in departure.weights and is_about(one, matters)]  # fmt: skip
    circles = test.peers_of(window.rows, roles)
    among = range(len(window.rows)) if circles is None else circles.fellows(at).tolist()
    peers = [one for one in among if window.rows[one].node != departure.node]
    return is_shifted(window, at, peers[:_ENOUGH_PEERS], metrics, departure.since)
