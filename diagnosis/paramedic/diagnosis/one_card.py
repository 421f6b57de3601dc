"""One card, one problem: what its driver tells and how it works are one verdict.

A card whose memory flips bits tells so by its counters, and works slower for it. Two verdicts with
two pieces of advice would make people ask which of them holds. The code or the counter is hard
evidence and gives the fault; how the card works gives the headline. Whichever came first gives the
id. Each part is over by its own rules, and the verdict when both are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import (
    Fault,
    Phase,
    RecommendedAction,
    Scope,
    Severity,
    Status,
    Tier,
)
from paramedic.diagnosis.finding import Subject, Trouble
from paramedic.diagnosis.symptoms import LOADING_METRIC

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from paramedic.diagnosis.contract import Evidence, Recommendation, Verdict
    from paramedic.diagnosis.finding import Finding

_AND = "; and "
"""Between the two parts of the words."""
SAYS_NO_WHY = (Fault.UNKNOWN, Fault.STRAGGLER)
"""Names of what a machine does, and not of what is wrong with it."""
_OF_PROGRAMS = Fault.CUDA_EXECUTION_ERROR
"""Told by healthy cards too: no reason to work differently unless that is what is seen."""
_OF_LIFE = (Fault.STRAGGLER, Fault.HANG, Fault.MACHINE_UNREACHABLE, Fault.PROCESS_EXIT)
_PHASES = (Phase.SYMPTOM, Phase.DEGRADED, Phase.FAILED)


def is_with_departure(verdict: Verdict) -> bool:
    """Whether it is about what a card's driver or counters tell, and about how it works."""
    is_told = verdict.tier is Tier.KNOWN_ERROR and verdict.fault is not Fault.NODE_FAILURE_RATE
    return is_told and any(one.deviation for one in verdict.evidence)


def partner_of(known: Mapping[Subject, Verdict], finding: Finding) -> Subject | None:
    """What is open about the same trouble of the same card, told by the other kind of evidence."""
    trouble, node = finding.subject.trouble, finding.node
    if trouble is Trouble.CARD:
        patterns = (Subject(node, one) for one in (Trouble.DEPARTED, Trouble.ALIVE))
        found = (one for one in patterns if one in known and _is_one(known[one], finding))
        return next(found, None)
    if not _is_of_work(finding):
        return None
    told = (
        subject
        for subject, verdict in known.items()
        if subject.node == node and subject.trouble is Trouble.CARD and _is_one(finding, verdict)
    )
    return next(told, None)


def _is_of_work(one: Finding | Verdict) -> bool:
    """Whether it says how a machine works, or that its rank is slow; not of a rank that waits for
    data, which no card does."""
    leads = one.evidence[0].metric if one.evidence else ""
    is_slow_rank = one.rank is not None and one.phase is Phase.DEGRADED
    is_at_work = is_slow_rank or one.fault not in _OF_LIFE
    return one.tier is Tier.PATTERN and is_at_work and leads != LOADING_METRIC


def _is_one(pattern: Verdict | Finding, card: Verdict | Finding) -> bool:
    """Whether what is told of a card is why it, or its node, works differently."""
    is_here = None in (pattern.gpu, card.gpu) or pattern.gpu == card.gpu
    is_gone = card.fault is Fault.GPU_CARD_DROP and pattern.gpu is not None
    explains = pattern.fault in SAYS_NO_WHY and card.fault is not _OF_PROGRAMS
    is_why = pattern.fault is card.fault or is_gone or explains
    return _is_of_work(pattern) and is_here and is_why


def with_departure(known: Verdict, finding: Finding) -> Verdict:
    """What a card has told, with how it is found to work; `finding` is weighed already."""
    whole = _both(known, finding, _together(finding.evidence, known.evidence))
    return replace(
        whole,
        rank=known.rank if finding.rank is None else finding.rank,
        candidates=finding.candidates,
        summary=f"{finding.summary}{_AND}{known.summary}",
        action=_advice(known.action, known.severity, finding.recommendation, finding.fault),
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
        action=_advice(finding.recommendation, finding.gravity, known.action, known.fault),
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


def _advice(
    told: Recommendation, gravity: Severity, seen: Recommendation, fault: Fault
) -> Recommendation:
    """The maker's advice, unless it takes for a trend what is seen to hurt, and it is seen why."""
    is_trend = gravity is Severity.P2
    is_known_why = fault not in SAYS_NO_WHY and seen.recommended is not RecommendedAction.RUN_TEST
    asks_nothing = told.recommended in (RecommendedAction.NONE, RecommendedAction.NOTIFY)
    return seen if is_trend and (is_known_why or asks_nothing) else told
