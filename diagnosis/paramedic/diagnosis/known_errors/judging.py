"""From everything that was told at one place to one accusation of it.

What the driver asks for decides the action; the gravest code decides the fault, and whichever of
both is graver the severity. The order in which reports came makes no difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Candidate, Evidence, Phase, Recommendation, Tier
from paramedic.diagnosis.finding import Finding
from paramedic.diagnosis.known_errors.entry import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paramedic.diagnosis.contract import Severity
    from paramedic.diagnosis.known_errors.entry import KnownError
    from paramedic.diagnosis.known_errors.report import Place, Report

_EVIDENCE = 8
_MAKERS = {"amd": "AMD"}
"""Whose advice it is, by the source of the entry."""


def judge_reports(reports: Iterable[Report], place: Place, generation: int) -> Finding | None:
    """The accusation that these reports add up to; None when none of them acts."""
    told = sorted(reports, key=lambda one: one.gravity, reverse=True)
    telling = [one for one in told if one.is_telling]
    if not telling:
        return None
    asked = [one for one in telling if one.is_drivers_word]
    codes = [one for one in telling if not one.is_drivers_word]
    lead, decider = (codes or asked)[0], (asked or codes)[0]
    known = _known(lead)
    return Finding(
        node=place.node,
        rank=None,
        generation=generation,
        fault=known.fault,
        phase=_phase(telling),
        tier=Tier.KNOWN_ERROR,
        confidence=max(CONFIDENCE[_known(one).cause] for one in telling),
        onset=min(one.first for one in telling),
        detected_at=max(one.at for one in telling),
        summary=_summary(place, lead, asked, telling),
        candidates=(Candidate(place.node, 1.0),),
        evidence=_evidence(telling, told),
        severity=_severity(telling[0]),
        gpu=place.gpu,
        action=_recommendation(decider),
    )


def _known(report: Report) -> KnownError:
    if report.known is None:
        raise AssertionError("a report that tells nothing known cannot accuse")
    return report.known


def _severity(gravest: Report) -> Severity:
    if gravest.severity is None:
        raise AssertionError("a report without severity cannot accuse")
    return gravest.severity


def _phase(telling: Sequence[Report]) -> Phase:
    has_failed = any(_known(one).phase is Phase.FAILED for one in telling)
    return Phase.FAILED if has_failed else Phase.SYMPTOM


def _recommendation(decider: Report) -> Recommendation:
    known = _known(decider)
    maker = _MAKERS.get(known.source, "NVIDIA")
    who = "the driver asks for it" if decider.is_drivers_word else maker
    return Recommendation(known.action, f"{who}: {known.nvidia}")


def _summary(place: Place, lead: Report, asked: Sequence[Report], telling: Sequence[Report]) -> str:
    gpus = sorted({one.place.gpu for one in telling if one.place.gpu is not None})
    if place.gpu is None and len(gpus) > 1:
        whose = f"GPUs {', '.join(map(str, gpus))} of {place.node}"
    else:
        whose = place.node if place.gpu is None else f"GPU {place.gpu} of {place.node}"
    if lead.is_drivers_word:
        return f"{whose}: the driver asks for {_known(lead).name}"
    blame = " (as a rule an error of the program, not of the GPU)" if lead.is_applications else ""
    wish = f"; the driver asks for {_known(asked[0]).name}" if asked else ""
    return f"{whose}: {_title(lead)}{_known(lead).name}{blame}{wish}"


def _title(report: Report) -> str:
    codes = {"xid": "Xid", "sxid": "SXid"}
    return f"{codes[report.metric]} {report.value:g}, " if report.metric in codes else ""


def _evidence(telling: Sequence[Report], told: Sequence[Report]) -> tuple[Evidence, ...]:
    """What accuses, then what was told beside it."""
    notes = [one for one in told if not one.is_telling and not one.is_drivers_word]
    seen: dict[tuple[str, float], Evidence] = {}
    for one in (*telling, *notes):
        evidence = Evidence(one.metric, one.value, None, 0.0, one.first)
        seen.setdefault((one.metric, one.value), evidence)
    return tuple(seen.values())[:_EVIDENCE]
