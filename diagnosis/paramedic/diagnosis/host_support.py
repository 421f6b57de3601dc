"""What speaks against a card and what speaks against its host add up: one cause shows in both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.beginnings import WITHIN_A_NODE_SECONDS
from paramedic.diagnosis.node_evidence import SUSPECT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.evidence import Evidence

_BOTH = 1.15
"""Two independent tails together reach h with e^-h (1 + h), one with e^-h: of levels of 20 to 25
nats the sum has to be so much higher."""


def with_hosts(cards: Evidence, hosts: Evidence) -> NDArray[np.float64]:
    """The strength of suspected cards with that of their hosts; of all others their own."""
    strength, of_hosts = cards.strength, hosts.strength
    suspects = np.flatnonzero(strength >= SUSPECT)
    if not suspects.size or not of_hosts.any():
        return strength
    places = {row.node: at for at, row in enumerate(hosts.rows)}
    found = np.array([places.get(cards.rows[at].node, -1) for at in suspects.tolist()])
    is_there = found >= 0
    of_card, of_host = suspects[is_there], found[is_there]
    apart = np.abs(hosts.sinces(of_host) - cards.sinces(of_card))
    at, host = (some[apart <= WITHIN_A_NODE_SECONDS] for some in (of_card, of_host))
    joint = strength.copy()
    joint[at] = np.maximum(strength[at], (strength[at] + of_hosts[host]) / _BOTH)
    return joint
