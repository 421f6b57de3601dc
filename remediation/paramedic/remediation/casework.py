"""Takes a verdict in: stores it, finds its incident, decides what to do. One transaction each.

Verdict, incident and planned action are written together, so that a crash loses all or nothing,
and the message is read again. Whatever is open is reviewed over and over: a decision that had to
wait is made then.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.remediation.incidents import (
    OpenCase,
    derived_incident,
    incident_for,
    incident_id,
)
from paramedic.remediation.policy import Situation, decide
from paramedic.remediation.store.verdicts import Change

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from paramedic.diagnosis.contract import Verdict
    from paramedic.ingest.contract import JobName
    from paramedic.remediation.configuration import RemediateConfig
    from paramedic.remediation.contract import Action
    from paramedic.remediation.intake import VerdictMessage
    from paramedic.remediation.launchers.port import Launcher
    from paramedic.remediation.store.store import Store, Transaction

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Casework:
    """From verdicts to incidents and planned actions."""

    store: Store
    launcher: Launcher
    config: RemediateConfig
    clock: Callable[[], datetime]

    def take(self, message: VerdictMessage) -> Change:
        """Store a verdict and what follows from it. The same message again changes nothing.

        Raises StoreUnavailableError and StoreDataError.
        """
        verdict = message.verdict
        with self.store.writing() as tx:
            change = tx.verdicts.put(verdict, message.document)
            decided: list[Action] = []
            if change in (Change.NEW, Change.CHANGED):
                identity = self._incident_of(tx, verdict)
                decided = self._decide(tx, identity, (verdict,))
                refresh_incident(tx, identity)
        if change in (Change.NEW, Change.CHANGED):
            _log.info("%s %s: %s", verdict.id, verdict.status.value, verdict.summary)
        _log_decisions(decided)
        return change

    def review(self) -> None:
        """Decide again about every open verdict. Raises StoreUnavailableError."""
        with self.store.reading() as view:
            is_idle = not view.incidents.open()
        if is_idle:
            return
        decided: list[Action] = []
        with self.store.writing() as tx:
            for incident in tx.incidents.open():
                new = self._decide(tx, incident.id, tx.verdicts.of_incident(incident.id))
                if new:
                    refresh_incident(tx, incident.id)
                decided += new
        _log_decisions(decided)

    def _incident_of(self, tx: Transaction, verdict: Verdict) -> str:
        known = tx.incidents.of_verdict(verdict.id)
        if known is not None:
            return known.id
        found = incident_for(verdict, _open_cases(tx, verdict.job), self.config.correlation_seconds)
        identity = incident_id(verdict) if found is None else found.id
        # Without its actions: it is refreshed when what follows is decided.
        verdicts = [*tx.verdicts.of_incident(identity), verdict]
        tx.incidents.put(derived_incident(identity, verdicts, []))
        return identity

    def _decide(
        self, tx: Transaction, identity: str, verdicts: tuple[Verdict, ...]
    ) -> list[Action]:
        decided: list[Action] = []
        for verdict in verdicts:
            situation = Situation(
                incident=identity,
                launcher=self.launcher.name,
                capabilities=self.launcher.capabilities,
                history=tx.actions.of_job(verdict.job),
                now=self.clock(),
            )
            action = decide(verdict, situation, self.config.policy)
            if action is not None and tx.actions.add(action):
                decided.append(action)
        return decided


def refresh_incident(tx: Transaction, identity: str) -> None:
    """Make an incident what its verdicts and actions say."""
    verdicts = tx.verdicts.of_incident(identity)
    actions = tx.actions.of_incident(identity)
    tx.incidents.put(derived_incident(identity, verdicts, actions))


def _open_cases(tx: Transaction, job: JobName) -> list[OpenCase]:
    return [
        OpenCase(incident, tx.verdicts.of_incident(incident.id))
        for incident in tx.incidents.open_of(job)
    ]


def _log_decisions(actions: list[Action]) -> None:
    for action in actions:
        _log.info(
            "%s: %s on %s %s: %s",
            action.incident,
            action.kind.value,
            action.target,
            action.state.value,
            action.result or action.details["reason"],
        )
