"""How grave an accusation is (design, section 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from paramedic.diagnosis.contract import Fault, Severity

_HALF = 0.5
_UNHURT = 0.95
_ALWAYS = {Fault.TELEMETRY_LOST: Severity.P2, Fault.NODE_FAILURE_RATE: Severity.P1}
"""Whatever the job does: nobody knows what is not heard of; a past is no failure of now."""


@dataclass(frozen=True, slots=True)
class Impact:
    """What an accused machine does to its job."""

    nodes_accused: int = 1
    """Machines that fail at the same time, this one among them."""
    throughput_ratio: float = math.nan
    """The job's training throughput now by that of before the onset; 0 where it stands still, NaN
    where nobody tells."""
    is_trend: bool = False
    """Whether what is seen hurts nobody as long as it does not go on, such as memory that is taken
    and not given back."""


def severity_of(fault: Fault, impact: Impact, throughput_floor: float = _HALF) -> Severity:
    """P0: several nodes at once, or less throughput left than `throughput_floor`; P1: one node.

    P2: a machine is odd, nothing says why, and the job is known to be as fast as before; or its
    telemetry is lost, which is no trouble of the job's; or it is a trend that costs nothing yet.
    """
    if fault in _ALWAYS:
        return _ALWAYS[fault]
    if impact.is_trend and not impact.throughput_ratio < _UNHURT:
        return Severity.P2
    if impact.nodes_accused > 1 or impact.throughput_ratio < throughput_floor:
        return Severity.P0
    is_harmless = impact.throughput_ratio >= _UNHURT
    return Severity.P2 if fault is Fault.UNKNOWN and is_harmless else Severity.P1
