"""Carries planned actions out: each exactly once, whatever crashes in between.

planned → acting (written before the call) → the launcher's answer (written after it) → the effect
is seen → succeeded. After a crash the action is found as acting without an answer, and the same
call is made again with the same idempotency key: a launcher that had done it says so. Calls to the
launcher are made outside database transactions. Of one job, one action is under way at a time.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from paramedic.ingest.contract import JobState
from paramedic.remediation.casework import refresh_incident
from paramedic.remediation.contract import Action, ActionState
from paramedic.remediation.launchers.port import (
    Effect,
    LauncherSetupError,
    LauncherUnavailableError,
    Outcome,
    ReplaceRank,
)
from paramedic.remediation.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from paramedic.ingest.contract import JobName
    from paramedic.remediation.configuration import ControllerSettings
    from paramedic.remediation.launchers.port import Launcher, Placement
    from paramedic.remediation.store.store import Store

_log = logging.getLogger(__name__)
_RESOLVED, _OVER = "the verdict was resolved", "the job was over"
"""Why an action is not carried out."""


def due(unfinished: Sequence[Action], now: datetime) -> list[Action]:
    """The actions to work on now: one a job, the one under way before any that is planned."""
    of_job: dict[JobName, Action] = {}
    for action in sorted(unfinished, key=lambda action: action.state is ActionState.PLANNED):
        of_job.setdefault(Progress.of(action).job, action)
    return [action for action in of_job.values() if _may_go_on(action, now)]


def _may_go_on(action: Action, now: datetime) -> bool:
    not_before = Progress.of(action).not_before
    return not_before is None or not_before <= now


@dataclass(frozen=True, slots=True)
class Controller:
    """Moves every unfinished action one step further at each call."""

    store: Store
    launcher: Launcher
    settings: ControllerSettings
    clock: Callable[[], datetime]

    def advance(self) -> None:
        """One step for each job with an unfinished action. Raises StoreUnavailableError."""
        with self.store.reading() as view:
            unfinished = view.actions.unfinished()
            open_incidents = {incident.id for incident in view.incidents.open()}
            over = {job.name for job in view.jobs.all() if job.state is JobState.FINISHED}
        for action in due(unfinished, self.clock()):
            is_open = action.incident in open_incidents
            is_over = Progress.of(action).job in over
            self._step(action, _RESOLVED if not is_open else _OVER if is_over else None)

    def _step(self, action: Action, why_not: str | None) -> None:
        if action.dry_run:
            self._show(action)
        elif Progress.of(action).applied_at is not None:
            self._look_for_effect(action)
        elif why_not is not None:
            self._drop(action, why_not)
        else:
            self._call(action)

    def _show(self, action: Action) -> None:
        try:
            calls = self.launcher.plan(_request(action)).calls
        except LauncherUnavailableError as error:
            self._postpone(replace(action, state=ActionState.ACTING), error)
            return
        self._end(replace(action, calls=calls), ActionState.SKIPPED, "dry run: nothing was called")

    def _drop(self, action: Action, why: str) -> None:
        if action.state is ActionState.PLANNED:
            self._end(action, ActionState.SKIPPED, f"{why} before")
        else:
            self._end(
                action,
                ActionState.FAILED,
                f"{why} before the launcher answered: {action.result}",
            )

    def _call(self, action: Action) -> None:
        request = _request(action)
        begun = replace(
            action,
            state=ActionState.ACTING,
            details=Progress.of(action).begun().to_details(),
        )
        try:
            begun = replace(begun, calls=self.launcher.plan(request).calls)
            self._save(begun)
            outcome = self.launcher.apply(request)
        except LauncherUnavailableError as error:
            self._postpone(begun, error)
        except LauncherSetupError as error:
            self._end(begun, ActionState.FAILED, str(error))
        else:
            self._answer(begun, outcome)

    def _answer(self, action: Action, outcome: Outcome) -> None:
        progress = Progress.of(action)
        if outcome.effect is Effect.REFUSED:
            self._end(action, ActionState.FAILED, f"refused: {outcome.reason}")
        elif outcome.effect is Effect.ALREADY_DONE and progress.attempts == 1:
            # Nobody but the launcher itself can have done it: this was our first call.
            self._end(action, ActionState.SKIPPED, f"already done: {outcome.reason}")
        else:
            applied = replace(progress, applied_at=self.clock())
            result = f"{outcome.effect.value}: {outcome.reason}"
            self._save(replace(action, details=applied.to_details(), result=result))
            _log.info("%s: %s on %s %s", action.incident, action.kind.value, action.target, result)

    def _look_for_effect(self, action: Action) -> None:
        progress = Progress.of(action)
        try:
            placements = self.launcher.observe(progress.job)
        except LauncherUnavailableError as error:
            if not self._give_up(action, f"its effect cannot be seen: {error}"):
                self._postpone(action, error)
            return
        if not _carries_rank(placements, action):
            self._end(action, ActionState.SUCCEEDED, f"{action.target} carries no rank any more")
        else:
            self._give_up(action, f"{action.target} still carries a rank")

    def _give_up(self, action: Action, reason: str) -> bool:
        applied_at = Progress.of(action).applied_at
        patience = timedelta(seconds=self.settings.effect_timeout_seconds)
        if applied_at is None or self.clock() - applied_at < patience:
            return False
        waited = f"after {self.settings.effect_timeout_seconds:g} s {reason}"
        self._end(action, ActionState.FAILED, waited)
        return True

    def _postpone(self, action: Action, error: LauncherUnavailableError) -> None:
        later = Progress.of(action).postponed(
            self.clock(),
            self.settings.first_retry_seconds,
            self.settings.longest_retry_seconds,
        )
        self._save(replace(action, details=later.to_details(), result=str(error)))
        _log.warning("%s: launcher unavailable, tried again: %s", action.incident, error)

    def _end(self, action: Action, state: ActionState, result: str) -> None:
        self._save(replace(action, state=state, result=result))
        _log.info(
            "%s: %s on %s %s: %s",
            action.incident,
            action.kind.value,
            action.target,
            state.value,
            result,
        )

    def _save(self, action: Action) -> None:
        with self.store.writing() as tx:
            tx.actions.update(action)
            refresh_incident(tx, action.incident)


def _request(action: Action) -> ReplaceRank:
    progress = Progress.of(action)
    return ReplaceRank(
        job=progress.job,
        node=action.target,
        generation=progress.generation,
        idempotency_key=action.idempotency_key,
        reason=progress.reason,
    )


def _carries_rank(placements: Sequence[Placement], action: Action) -> bool:
    return any(
        placement.node == action.target and placement.rank is not None for placement in placements
    )
