"""Verdict + what the launcher can do + what was done before → at most one new action. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Phase, RecommendedAction, Status, Verdict
from paramedic.ingest.contract import NodeName
from paramedic.remediation.contract import Action, ActionState
from paramedic.remediation.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.remediation.configuration import PolicySettings
    from paramedic.remediation.launchers.port import Capabilities

REQUESTED_BY = "policy"
EVERY_NODE = NodeName("*")
"""Target of an action that concerns no machine in particular."""

_STOPPED_OR_SLOW = frozenset({Phase.FAILED, Phase.DEGRADED})
_UNFINISHED = frozenset({ActionState.PLANNED, ActionState.ACTING})
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Rule:
    """What to do about a fault."""

    kind: RecommendedAction
    phases: frozenset[Phase]
    needs_confidence: bool


RULES = {
    # The supervisor sees its child's exit before any verdict can; the action is the record of it.
    Fault.PROCESS_EXIT: Rule(RecommendedAction.RECOVER_IN_PROCESS, frozenset(Phase), False),
    Fault.HANG: Rule(RecommendedAction.REPLACE_RANK, _STOPPED_OR_SLOW, True),
    Fault.STRAGGLER: Rule(RecommendedAction.REPLACE_RANK, _STOPPED_OR_SLOW, True),
}
"""Every fault that is not here is told to people and nothing else."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the decision may rest on, besides the verdict."""

    incident: str
    launcher: str
    capabilities: Capabilities
    history: Sequence[Action]
    """All actions of the job, oldest first."""
    now: datetime


def decide(verdict: Verdict, situation: Situation, settings: PolicySettings) -> Action | None:
    """The action that the verdict asks for now, if it has not been asked for before.

    None also while another action on the same node is under way: ask again later.
    """
    if verdict.status is Status.RESOLVED:
        return None
    kind, reason = _kind(verdict, situation.capabilities, settings)
    key = f"{verdict.id}:{kind.value}"
    if any(action.idempotency_key == key for action in situation.history):
        return None
    planned = _action(verdict, situation, kind, reason)
    if kind is RecommendedAction.REPLACE_RANK:
        return _barred(planned, situation, settings)
    return planned


def _kind(
    verdict: Verdict, capabilities: Capabilities, settings: PolicySettings
) -> tuple[RecommendedAction, str]:
    action = verdict.action
    rule = RULES.get(Fault.STRAGGLER if _is_slow_rank(verdict) else verdict.fault)
    if rule is None or verdict.node is None:
        return RecommendedAction.NOTIFY, f"{verdict.fault.value} is for people to look at"
    if verdict.fault is Fault.STRAGGLER and action.recommended is not rule.kind:
        return RecommendedAction.NOTIFY, action.reason  # such as a rank that waits for its data
    if verdict.phase not in rule.phases:
        return RecommendedAction.NOTIFY, f"{verdict.phase.value}: nothing has failed yet"
    if rule.needs_confidence and verdict.confidence < settings.minimum_confidence:
        return (
            RecommendedAction.NOTIFY,
            f"confidence {verdict.confidence:.2f} is below {settings.minimum_confidence:.2f}",
        )
    if rule.kind is RecommendedAction.REPLACE_RANK and not capabilities.can_replace_rank:
        return RecommendedAction.NOTIFY, "the launcher cannot replace a rank"
    return rule.kind, verdict.summary


def _is_slow_rank(verdict: Verdict) -> bool:
    """Whether the others wait for a rank, whatever it is on its machine that makes it slow."""
    return verdict.rank is not None and verdict.phase is Phase.DEGRADED


_AT_ONCE = {
    RecommendedAction.RECOVER_IN_PROCESS: (
        "the supervisor acted on the exit of its own child before any verdict"
    ),
    RecommendedAction.NOTIFY: "no receiver is configured: it stands in the log and in the API",
}
"""Kinds that need no call of the launcher, and why they are skipped."""


def _action(verdict: Verdict, situation: Situation, kind: RecommendedAction, reason: str) -> Action:
    key = f"{verdict.id}:{kind.value}"
    progress = Progress(
        job=verdict.job,
        generation=verdict.generation,
        verdict=verdict.id,
        planned_at=situation.now,
        reason=reason,
    )
    return Action(
        id=f"act-{hashlib.sha256(key.encode()).hexdigest()[:24]}",
        incident=situation.incident,
        kind=kind,
        target=verdict.node or EVERY_NODE,
        launcher=situation.launcher,
        state=ActionState.SKIPPED if kind in _AT_ONCE else ActionState.PLANNED,
        dry_run=False,
        idempotency_key=key,
        requested_by=REQUESTED_BY,
        result=_AT_ONCE.get(kind),
        details=progress.to_details(),
    )


def _barred(planned: Action, situation: Situation, settings: PolicySettings) -> Action | None:
    same_node = [action for action in situation.history if action.target == planned.target]
    if any(action.state in _UNFINISHED for action in same_node):
        return None
    if settings.dry_run:
        return replace(planned, dry_run=True)
    recent = [action for action in situation.history if _counts(action, situation.now)]
    if len(recent) >= settings.replacements_per_hour:
        return replace(
            planned,
            state=ActionState.FAILED,
            result=f"the budget of {settings.replacements_per_hour} replacements an hour is "
            "spent; a person has to look at this job",
        )
    return planned


def _counts(action: Action, now: datetime) -> bool:
    if action.kind is not RecommendedAction.REPLACE_RANK or action.dry_run:
        return False
    progress = Progress.of(action)
    was_asked_for = action.state in _UNFINISHED or progress.attempts > 0
    return was_asked_for and now - progress.planned_at < _HOUR
