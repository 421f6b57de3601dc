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
    suspects = np.flatnonzero(strength >= SUSPECT).tolist()
    if not suspects or not of_hosts.any():
        return strength
    joint = strength.copy()
    places = {row.node: at for at, row in enumerate(hosts.rows)}
    for at in suspects:
        host = places.get(cards.rows[at].node)
        if host is not None and abs(hosts.since(host) - cards.since(at)) <= WITHIN_A_NODE_SECONDS:
            joint[at] = max(strength[at], (strength[at] + of_hosts[host]) / _BOTH)
    return joint
