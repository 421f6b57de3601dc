"""Words and advice for nodes that depart together: what they share has failed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import (
    Candidate,
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Severity,
    Tier,
)
from paramedic.diagnosis.explanation.measures import measure_of
from paramedic.diagnosis.finding import Finding, moment, ranked
from paramedic.diagnosis.grouping import DomainKind
from paramedic.ingest.some_names import some_names
from paramedic.ingest.wording import others_heard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.contract import Evidence
    from paramedic.diagnosis.grouping import Group
    from paramedic.ingest.contract import NodeName

_OTHERS = 3
"""Candidates that are no members."""
_PLACES = {
    DomainKind.SWITCH: "behind switch",
    DomainKind.RACK: "in rack",
    DomainKind.STAGE: "of pipeline stage",
}
_ADVICE = {
    DomainKind.SWITCH: (
        RecommendedAction.NOTIFY,
        "look at the switch that they share and at its links",
    ),
    DomainKind.RACK: (
        RecommendedAction.NOTIFY,
        "look at what the rack shares: its network, power and cooling",
    ),
    DomainKind.STAGE: (
        RecommendedAction.RUN_TEST,
        "test what the nodes of the stage share: their part of the model, and whom they send to",
    ),
}


def finding_of_group(
    group: Group,
    *,
    generation: int,
    second: int,
    confidence: float,
    strengths: Mapping[NodeName, float],
    evidence: tuple[Evidence, ...],
    shown: Fault = Fault.UNKNOWN,
) -> Finding:
    """The accusation of a domain, decided in this second.

    `strengths` is the evidence against each node, `evidence` what speaks loudest, the first of it
    named in the summary, and `shown` the fault that the members show.
    """
    is_stage = group.domain.kind is DomainKind.STAGE
    return Finding(
        node=None,
        rank=None,
        generation=generation,
        fault=shown if is_stage else Fault.NETWORK_GROUP,
        phase=Phase.SYMPTOM,
        tier=Tier.PATTERN,
        confidence=confidence,
        onset=moment(int(group.since)),
        detected_at=moment(second),
        summary=_summary(group, second, evidence),
        candidates=_candidates(group, strengths),
        evidence=evidence,
        severity=Severity.P0,
        action=_advice(group),
        members=group.members,
    )


def finding_of_silence(group: Group, one: Finding, seconds: int, heard: int) -> Finding:
    """What the silence of one node means, whose domain is silent with it for so long."""
    others = f", while {others_heard(heard)}"
    stands = one.phase is Phase.FAILED
    return replace(
        one,
        node=None,
        rank=None,
        members=group.members,
        fault=Fault.NETWORK_GROUP,
        onset=min(one.onset, moment(int(group.since))),
        summary=f"{_subject(group)} have fallen silent together ({some_names(group.members)}),"
        f" for {seconds} s{others}{', and the job stands still since then' if stands else ''}",
        candidates=tuple(Candidate(node, 1.0) for node in group.members),
        severity=Severity.P0 if stands else Severity.P2,
        action=_advice(group),
    )


def _subject(group: Group) -> str:
    return f"the {len(group.members)} nodes {_PLACES[group.domain.kind]} {group.domain.name}"


def _summary(group: Group, second: int, evidence: tuple[Evidence, ...]) -> str:
    return (
        f"{_subject(group)} depart together ({some_names(group.members)}),"
        f" for {second - int(group.since) + 1} s{_lead(evidence)}"
    )


def _lead(evidence: tuple[Evidence, ...]) -> str:
    if not evidence:
        return ""
    lead = evidence[0]
    sizes = [abs(one) for one in (lead.value, lead.peers) if one is not None]
    measure = measure_of(lead.metric, max(sizes, default=1.0))
    peers = "" if lead.peers is None else f" against {measure.text(lead.peers)}"
    return f": {measure.name} {measure.text(lead.value)}{peers}"


def _candidates(group: Group, strengths: Mapping[NodeName, float]) -> tuple[Candidate, ...]:
    """All members, and who of the others comes next."""
    own = (Candidate(node, round(strengths.get(node, 0.0), 2)) for node in group.members)
    others = ((node, score) for node, score in strengths.items() if node not in group.members)
    return (*own, *ranked(others, _OTHERS))


def _advice(group: Group) -> Recommendation:
    action, look = _ADVICE[group.domain.kind]
    return Recommendation(
        action, f"{look}; {len(group.members)} nodes at once are no machine's own fault, so"
        " replacing one of them would not help"
    )  # fmt: skip
