"""Which metrics are told as evidence: those whose numbers set the machine apart, as people see it.

A test adds up what a mean hardly shows, and of many metrics one or the other departs by chance. A
line that says `1 % less, 9 standard deviations` makes nobody wiser, nor one whose two numbers say
the contrary of its deviation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.materiality import LEAST_FALL, LEAST_SHARE
from paramedic.models.departure.character import OF_WORK, About, character_of

if TYPE_CHECKING:
    from paramedic.diagnosis.contract import Evidence


def sets_apart(evidence: Evidence) -> bool:
    """Whether the numbers themselves show what the deviation says.

    Errors, latencies and temperatures are told as they are: little of them is a lot. So is what was
    not observed, of one or of the others. Fewer errors than the peers have are nobody's fault.
    """
    value, peers = evidence.value, evidence.peers
    if value is None or peers is None:
        return True
    if (value - peers) * evidence.deviation < 0:
        return False
    known = character_of(evidence.metric)
    if known is not None and known.about is not About.USAGE:
        is_better = known.only_rises if evidence.deviation < 0 else known.only_falls
        if is_better:
            return False
    if known is None or known.about not in (*OF_WORK, About.USAGE, About.CLOCK):
        return value != peers
    least = LEAST_FALL if known.about is About.CLOCK else LEAST_SHARE
    return abs(value - peers) >= least * max(abs(value), abs(peers)) > 0
