"""What an accusation adds to a signature: whoever accused the machine has seen more than means.

A test adds evidence up over many seconds and of every card, so it decides by departures that a mean
beside the peers' scatter hardly shows. What decided has been seen.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.family.signature import Departure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.family.signature import Signature

_UNKNOWN = Departure(math.nan)


def as_accused(
    signature: Signature,
    nats: Mapping[str, float],
    deviations: Mapping[str, float],
    *,
    is_standing: bool = False,
) -> Signature:
    """The signature of a machine that is accused by so many nats of each metric.

    `deviations` say in which direction; `is_standing`, whether the whole job does nothing. So many
    nats are worth √(2 nats) standard deviations, which is the least that the metric departs by.
    """
    departures = dict(signature.departures)
    for metric, told in nats.items():
        known = departures.get(metric, _UNKNOWN)
        least = math.sqrt(2.0 * max(told, 0.0))
        if math.isnan(known.deviation) or abs(known.deviation) < least:
            deviation = math.copysign(least, deviations.get(metric, 0.0))
            departures[metric] = replace(known, deviation=deviation)
    has_stopped = signature.has_stopped or is_standing
    return replace(signature, departures=departures, has_stopped=has_stopped)
