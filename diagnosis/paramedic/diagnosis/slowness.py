"""Words and evidence for a straggler: what the finding says and what stands behind it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import (
    Evidence,
    Phase,
    Recommendation,
    RecommendedAction,
    Tier,
)
from paramedic.diagnosis.finding import Finding, moment, ranked
from paramedic.diagnosis.sequential import confidence
from paramedic.diagnosis.symptoms import WAITING_METRIC
from paramedic.ingest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.settings import StragglerSettings
    from paramedic.diagnosis.straggler import Slowness
    from paramedic.diagnosis.trails import Trail
    from paramedic.ingest.contract import EntityKey

_CANDIDATES = 5
_OF_NODE = Recommendation(
    RecommendedAction.REPLACE_NODE, "most ranks of the node are slow: it is what they share"
)


def finding_of(
    slowness: Slowness,
    generation: int,
    suspicion: Mapping[EntityKey, float],
    settings: StragglerSettings,
) -> Finding:
    """The accusation with its numbers."""
    trail, row = slowness.trail, slowness.row
    return Finding(
        node=row.node,
        rank=row.index,
        generation=generation,
        fault=trail.symptom.fault,
        phase=Phase.DEGRADED,
        tier=Tier.PATTERN,
        confidence=_confidence(slowness, settings),
        onset=moment(trail.onset_second),
        detected_at=moment(slowness.second),
        summary=_summary(slowness),
        candidates=ranked(((r.node, score) for r, score in suspicion.items()), _CANDIDATES),
        evidence=_rank_evidence(trail),
        action=_OF_NODE if slowness.is_of_node else None,
    )


def _confidence(slowness: Slowness, settings: StragglerSettings) -> float:
    share = confidence(
        slowness.trail.score - slowness.level,
        settings.false_alarms_per_job_day,
        settings.expected_faults_per_job_day,
        settings.allowance,
        slowness.noise,
    )
    return round(share, 4)


def _summary(slowness: Slowness) -> str:
    trail, row = slowness.trail, slowness.row
    seconds = slowness.second - trail.onset_second + 1
    value, level = trail.value, trail.peers
    much = f"{value / level:.1f}× longer a step than" if level > 0 else f"{value:.3g} s against"
    peers = counted(slowness.peers, "peer")
    text = f"rank {row.index} on {row.node} {trail.symptom.wording} {much} its {peers}"
    waiting = (
        f", which wait {trail.peers_waited:.2f} s a step for it"
        if trail.waiting < 0 and trail.peers_waited > trail.waited
        else ""
    )
    return (
        f"{text} ({value:.2f} s against {level:.2f} s, for {seconds} s){waiting}{_beside(slowness)}"
    )


def _beside(slowness: Slowness) -> str:
    """Who else of the node is slow."""
    beside, others = slowness.beside, slowness.others_of_node
    if not beside:
        return ""
    if len(beside) == others:
        who = "the other rank" if others == 1 else f"all {others} others"
    else:
        who = f"{'rank' if len(beside) == 1 else 'ranks'} {', '.join(map(str, beside))}"
    return f"; {who} of the node {'is' if len(beside) == 1 else 'are'} slow as well"


def _rank_evidence(trail: Trail) -> tuple[Evidence, ...]:
    since = moment(trail.onset_second)
    own = Evidence(
        trail.symptom.metric,
        trail.value,
        trail.peers,
        round(trail.deviation, 2),
        since,
    )
    if math.isnan(trail.waiting) or trail.waiting >= 0:
        return (own,)
    waits_less = Evidence(
        WAITING_METRIC,
        trail.waited,
        trail.peers_waited,
        round(trail.waiting, 2),
        since,
    )
    return (own, waits_less)
