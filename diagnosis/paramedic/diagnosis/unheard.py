"""Words for nodes and cards that are no longer heard of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Candidate, Evidence, Fault, Phase, Tier
from paramedic.diagnosis.finding import Finding, moment
from paramedic.ingest.contract import Entity
from paramedic.ingest.wording import others_heard

if TYPE_CHECKING:
    from paramedic.diagnosis.absence import Absence

_KINDS = {Entity.GPU: "GPU ", Entity.NODE: "host "}
_CONFIDENCE_LOST = 0.9
_CONFIDENCE_STANDING = 0.97
"""Its silence, and the standstill of a job that waits for it."""


def finding_of_absence(absence: Absence, generation: int) -> Finding:
    """What the silence of a node means."""
    whose = "".join(_KINDS[kind] for kind in absence.kinds if len(absence.kinds) == 1)
    seconds = absence.second - absence.since
    since = moment(absence.since)
    said = (
        f"the {whose}telemetry of {absence.node} has ceased for {seconds} s,"
        f" while {others_heard(absence.peers_heard)}"
    )
    is_standing = absence.is_standing
    return Finding(
        node=absence.node,
        rank=None,
        generation=generation,
        fault=_fault(absence),
        phase=Phase.FAILED if is_standing else Phase.SYMPTOM,
        tier=Tier.HEARTBEAT,
        confidence=_CONFIDENCE_STANDING if is_standing else _CONFIDENCE_LOST,
        onset=since,
        detected_at=moment(absence.second),
        summary=f"{said}, and the job stands still since then" if is_standing else said,
        candidates=(Candidate(absence.node, 1.0),),
        evidence=(Evidence("telemetry", None, 1.0, 0.0, since),),
        throughput_ratio=0.0 if is_standing else math.nan,
    )


def _fault(absence: Absence) -> Fault:
    if not absence.is_standing:
        return Fault.TELEMETRY_LOST
    is_gpu_alone = absence.kinds == (Entity.GPU,) and not absence.is_whole
    return Fault.GPU_CARD_DROP if is_gpu_alone else Fault.MACHINE_UNREACHABLE
