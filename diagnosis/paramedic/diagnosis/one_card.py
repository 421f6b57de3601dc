"""One card, one problem: what its driver tells and how it works are one verdict.

A card whose memory flips bits tells so by its counters, and works slower for it. Two verdicts with
two pieces of advice would make people ask which of them holds. The code or the counter is hard
evidence and gives the fault; how the card works gives the headline. Whichever came first gives the
id. Each part is over by its own rules, and the verdict when both are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Phase, Scope, Severity, Status, Tier
from paramedic.diagnosis.finding import Subject, Trouble

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from paramedic.diagnosis.contract import Evidence, Verdict
    from paramedic.diagnosis.finding import Finding

_AND = "; and "
"""Between the two parts of the words."""
SAYS_NO_WHY = (Fault.UNKNOWN, Fault.STRAGGLER)
"""Names of what a machine does, and not of what is wrong with it."""
_OF_PROGRAMS = Fault.CUDA_EXECUTION_ERROR
"""Told by healthy cards too: no reason to work differently unless that is what is seen."""
_PHASES = (Phase.SYMPTOM, Phase.DEGRADED, Phase.FAILED)


def is_with_departure(verdict: Verdict) -> bool:
    """Whether it is about what a card's driver or counters tell, and about how it works."""
    is_told = verdict.tier is Tier.KNOWN_ERROR and verdict.fault is not Fault.NODE_FAILURE_RATE
    return is_told and any(one.deviation for one in verdict.evidence)


def partner_of(known: Mapping[Subject, Verdict], finding: Finding) -> Subject | None:
    """What is open about the same trouble of the same card, told by the other kind of evidence."""
    trouble, node = finding.subject.trouble, finding.node
    if trouble is Trouble.CARD:
        departed = Subject(node, Trouble.DEPARTED)
        verdict = known.get(departed)
        is_it = verdict is not None and _is_one(verdict, finding)
        return departed if is_it else None
    if trouble is not Trouble.DEPARTED:
        return None
    told = (
        subject
        for subject, verdict in known.items()
        if subject.node == node and subject.trouble is Trouble.CARD and _is_one(finding, verdict)
    )
    return next(told, None)


def _is_one(pattern: Verdict | Finding, card: Verdict | Finding) -> bool:
    """Whether what is told of a card is why it, or its node, works differently."""
    is_here = None in (pattern.gpu, card.gpu) or pattern.gpu == card.gpu
    is_gone = card.fault is Fault.GPU_CARD_DROP and pattern.gpu is not None
    explains = pattern.fault in SAYS_NO_WHY and card.fault is not _OF_PROGRAMS
    return is_here and (pattern.fault is card.fault or is_gone or explains)


def with_departure(known: Verdict, finding: Finding) -> Verdict:
    """What a card has told, with how it is found to work; `finding` is weighed already."""
    whole = _both(known, finding, _together(finding.evidence, known.evidence))
    return replace(
        whole,
        candidates=finding.candidates,
        summary=f"{finding.summary}{_AND}{known.summary}",
        action=known.action if _is_grave(known.severity) else finding.recommendation,
    )


def with_card(known: Verdict, finding: Finding) -> Verdict:
    """How a card works, with what it is found to tell, in place of what it told before."""
    before, evidence = _pattern_part(known)
    whole = _both(known, finding, _together(evidence, finding.evidence))
    return replace(
        whole,
        fault=finding.fault,
        tier=finding.tier,
        gpu=finding.gpu,
        scope=Scope.NODE if finding.gpu is None else Scope.GPU,
        summary=f"{before}{_AND}{finding.summary}",
        action=finding.recommendation if _is_grave(finding.gravity) else known.action,
    )


def without_card(known: Verdict, at: datetime, reason: str) -> Verdict:
    """How the card works still, when what it told is over."""
    before, evidence = _pattern_part(known)
    return replace(
        known,
        status=Status.UPDATED,
        tier=Tier.PATTERN,
        phase=Phase.SYMPTOM if known.rank is None else Phase.DEGRADED,
        failed_at=None,
        detected_at=max(known.detected_at, at),
        summary=f"{reason}; {before}",
        evidence=evidence,
    )


def without_departure(known: Verdict, at: datetime, reason: str) -> Verdict:
    """What the card tells still, when it works as its peers do again."""
    told = known.summary.partition(_AND)[2]
    return replace(
        known,
        status=Status.UPDATED,
        rank=None,
        phase=Phase.SYMPTOM if known.phase is Phase.DEGRADED else known.phase,
        detected_at=max(known.detected_at, at),
        summary=f"{told}; {reason}",
        evidence=tuple(one for one in known.evidence if is_told(one)),
    )


def with_words(known: Verdict, more: str) -> str:
    """Its summary with more about how the card works."""
    before, and_, told = known.summary.partition(_AND)
    return f"{before}; {more}{and_}{told}"


def _together(pattern: Sequence[Evidence], card: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The headline of how it works leads; what the card tells itself is told once."""
    told = {one.metric for one in card}
    return (*pattern[:1], *(one for one in pattern[1:] if one.metric not in told), *card)


def _both(known: Verdict, finding: Finding, evidence: tuple[Evidence, ...]) -> Verdict:
    """What holds of both parts, whichever was known first."""
    return replace(
        known,
        status=Status.UPDATED,
        phase=max(known.phase, finding.phase, key=_PHASES.index),
        severity=min(known.severity, finding.gravity),
        confidence=max(known.confidence, finding.confidence),
        onset=min(known.onset, finding.onset),
        detected_at=max(known.detected_at, finding.detected_at),
        evidence=evidence,
    )


def _pattern_part(known: Verdict) -> tuple[str, tuple[Evidence, ...]]:
    evidence = tuple(one for one in known.evidence if not is_told(one))
    return known.summary.partition(_AND)[0], evidence


def is_told(evidence: Evidence) -> bool:
    """Whether it is a code, a state or a count, which nobody compares with the peers'."""
    return evidence.peers is None and not evidence.deviation


def _is_grave(severity: Severity) -> bool:
    """Whether what the maker advises goes before what how the card works asks for."""
    return severity is not Severity.P2
