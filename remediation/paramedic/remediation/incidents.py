"""Which incident a verdict belongs to, and what an incident looks like. Pure functions.

The rule of the first version:

1. A verdict that speaks of a node of an open incident of the same job belongs to that incident.
2. Otherwise, when the verdict or one of the incident's verdicts speaks of a group or of the whole
   job, and their onsets are at most `correlation_seconds` apart, it belongs to it too.
3. Otherwise it opens an incident of its own, however near in time: two machines are two causes.
4. That a node fails too often is an incident of its own, which neither joins others nor takes them
   in: it lasts for days, and each of the failures is over long before.

Of several that fit, the oldest takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Scope, Severity, Status, Verdict
from paramedic.remediation.contract import Action, ActionState, Incident, IncidentState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from paramedic.ingest.contract import NodeName

_WORST_FIRST = (Severity.P0, Severity.P1, Severity.P2)
_WIDE = frozenset({Scope.GROUP, Scope.JOB})


@dataclass(frozen=True, slots=True)
class OpenCase:
    """An open incident with its verdicts, oldest first."""

    incident: Incident
    verdicts: tuple[Verdict, ...]


def incident_id(first: Verdict) -> str:
    """The id of the incident that a verdict opens; the same verdict always opens the same one."""
    return f"inc-{first.id}"


def incident_for(
    verdict: Verdict, open_cases: Sequence[OpenCase], correlation_seconds: float
) -> Incident | None:
    """The open incident that the verdict belongs to, or None when it opens its own."""
    if verdict.fault is Fault.NODE_FAILURE_RATE:
        return None
    same_job = [case for case in open_cases if _may_take_in(case.incident, verdict)]
    for case in same_job:
        if nodes_of(verdict) & set(case.incident.nodes):
            return case.incident
    for case in same_job:
        if any(_one_cause(verdict, other, correlation_seconds) for other in case.verdicts):
            return case.incident
    return None


def nodes_of(verdict: Verdict) -> frozenset[NodeName]:
    """The nodes that a verdict speaks of."""
    return frozenset(verdict.members if verdict.node is None else (verdict.node,))


def derived_incident(
    identity: str, verdicts: Sequence[Verdict], actions: Sequence[Action]
) -> Incident:
    """The incident as its verdicts (oldest first, at least one) and actions make it.

    It was opened at the earliest onset and is closed when its last verdict was resolved.
    """
    worst = min(verdicts, key=lambda verdict: _WORST_FIRST.index(verdict.severity))
    nodes = [node for verdict in verdicts for node in sorted(nodes_of(verdict))]
    return Incident(
        id=identity,
        job=verdicts[0].job,
        state=_state(verdicts, actions),
        severity=worst.severity,
        fault=worst.fault,
        nodes=tuple(dict.fromkeys(nodes)),
        verdicts=tuple(verdict.id for verdict in verdicts),
        opened_at=min(verdict.onset for verdict in verdicts),
        closed_at=_closed_at(verdicts),
        summary=worst.summary,
    )


def _may_take_in(incident: Incident, verdict: Verdict) -> bool:
    return incident.job == verdict.job and incident.fault is not Fault.NODE_FAILURE_RATE


def _one_cause(verdict: Verdict, other: Verdict, correlation_seconds: float) -> bool:
    is_wide = verdict.scope in _WIDE or other.scope in _WIDE
    apart_seconds = abs((verdict.onset - other.onset).total_seconds())
    return is_wide and apart_seconds <= correlation_seconds


def _closed_at(verdicts: Sequence[Verdict]) -> datetime | None:
    if any(verdict.status is not Status.RESOLVED for verdict in verdicts):
        return None
    return max(verdict.detected_at for verdict in verdicts)


def _state(verdicts: Sequence[Verdict], actions: Sequence[Action]) -> IncidentState:
    if _closed_at(verdicts) is not None:
        return IncidentState.RECOVERED
    states = {action.state for action in actions}
    if ActionState.FAILED in states:
        return IncidentState.FAILED
    if states & {ActionState.PLANNED, ActionState.ACTING, ActionState.SUCCEEDED}:
        return IncidentState.ACTING
    return IncidentState.OPEN
