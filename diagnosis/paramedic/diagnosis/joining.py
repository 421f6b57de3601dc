"""One node, one problem: a slow rank whose machine is accused already joins that verdict.

What makes the rank slow is what its machine shows; two verdicts with two pieces of advice would
make people ask which of them holds. Id, place, fault and advice of the machine's verdict stay, and
it learns that the job waits for the rank. Where nothing said why the machine is odd, it is a
straggler from then on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Phase, Status, Tier
from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.one_card import is_with_departure, with_words
from paramedic.diagnosis.trails import LANES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.departures import DepartureWatch
    from paramedic.diagnosis.docket import Docket
    from paramedic.diagnosis.finding import Finding
    from paramedic.diagnosis.straggler import StragglerWatch


def is_slow_rank(verdict: Verdict) -> bool:
    """Whether it is about a rank that is slow, whatever the machine says of the cause."""
    return verdict.rank is not None and verdict.phase is Phase.DEGRADED


def is_joined(verdict: Verdict) -> bool:
    """Whether the machine was accused first, and its rank found slow after that."""
    leads = verdict.evidence[0].metric if verdict.evidence else ""
    is_ours = verdict.tier is Tier.PATTERN or is_with_departure(verdict)
    return is_ours and is_slow_rank(verdict) and leads not in LANES


def joined(known: Verdict, finding: Finding) -> Verdict:
    """The machine's verdict with what is found of its rank; `finding` is weighed already."""
    told = {one.metric for one in known.evidence}
    more = (one for one in finding.evidence if one.metric not in told)
    whole = replace(
        known,
        status=Status.UPDATED,
        phase=finding.phase,
        rank=finding.rank,
        severity=min(known.severity, finding.gravity),
        confidence=max(known.confidence, finding.confidence),
        onset=min(known.onset, finding.onset),
        detected_at=max(known.detected_at, finding.detected_at),
        summary=with_words(known, finding.summary),
        evidence=(*known.evidence, *more),
    )
    if known.fault is not Fault.UNKNOWN:
        return whole
    return replace(whole, fault=finding.fault, action=finding.recommendation)


def acquit_joined(
    second: int,
    slot_seconds: int,
    ranks: StragglerWatch,
    machines: DepartureWatch,
    docket: Docket,
) -> Iterator[Verdict]:
    """Resolves those of whom neither the rank nor the machine shows anything any more."""
    for subject, verdict in docket.not_working.items():
        node = subject.node if is_joined(verdict) else None
        if node is None or not ranks.is_well(node, slot_seconds):
            continue
        if machines.is_well(node, slot_seconds):
            reason = f"{node} works like its peers again, and rank {verdict.rank} is as fast"
            yield from docket.recover(subject, moment(second), reason)
