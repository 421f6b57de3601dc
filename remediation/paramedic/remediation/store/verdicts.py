"""Verdicts: the newest state of each as the bytes that came, and the history of its states."""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, insert, or_, select, update

from paramedic.diagnosis.contract import Status, Verdict
from paramedic.remediation.life import VerdictLife
from paramedic.remediation.store.tables import incident_verdicts, verdict_states, verdicts

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.engine import Connection
    from sqlalchemy.sql import ColumnElement, Select

    from paramedic.ingest.contract import JobName, NodeName
    from paramedic.remediation.contract import VerdictFilter

_ORDER = {Status.FIRING: 0, Status.UPDATED: 1, Status.RESOLVED: 2}


class Change(StrEnum):
    """What storing a verdict changed."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    """The very same state was stored before."""
    STALE = "stale"
    """A newer state is known; this one went into the history only."""


class Verdicts:
    """Verdicts of one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, verdict: Verdict, document: bytes) -> Change:
        """Store one state of a verdict; `document` is its message as it came."""
        newest = self.get(verdict.id)
        if newest is None:
            self._connection.execute(insert(verdicts).values(**_columns(verdict, document)))
            self._remember(verdict, document)
            return Change.NEW
        if not self._remember(verdict, document):
            return Change.UNCHANGED
        if _rank(verdict) < _rank(newest):
            return Change.STALE
        self._connection.execute(
            update(verdicts)
            .where(verdicts.c.id == verdict.id)
            .values(**_columns(verdict, document))
        )
        return Change.CHANGED

    def get(self, verdict_id: str) -> Verdict | None:
        """The newest state of one verdict, or None."""
        document = self.document(verdict_id)
        return None if document is None else Verdict.from_json(document)

    def document(self, verdict_id: str) -> bytes | None:
        """The newest state as it came, or None."""
        wanted = select(verdicts.c.document).where(verdicts.c.id == verdict_id)
        found: str | None = self._connection.scalar(wanted)
        return None if found is None else found.encode()

    def documents(self, wanted: VerdictFilter) -> tuple[bytes, ...]:
        """The newest states as they came, newest `detected_at` first."""
        rows = self._connection.scalars(_selected(wanted))
        return tuple(document.encode() for document in rows)

    def of_incident(self, incident_id: str) -> tuple[Verdict, ...]:
        """The verdicts of an incident, oldest first."""
        rows = self._connection.scalars(
            select(verdicts.c.document)
            .join(incident_verdicts, incident_verdicts.c.verdict == verdicts.c.id)
            .where(incident_verdicts.c.incident == incident_id)
            .order_by(incident_verdicts.c.position)
        )
        return tuple(Verdict.from_json(document.encode()) for document in rows)

    def lives(self, job: JobName) -> tuple[VerdictLife, ...]:
        """Every verdict of a job with the moments that the ledger needs."""
        first = (
            select(
                verdict_states.c.verdict,
                func.min(verdict_states.c.detected_at).label("known_at"),
            )
            .group_by(verdict_states.c.verdict)
            .subquery()
        )
        rows = self._connection.execute(
            select(verdicts.c.document, first.c.known_at, incident_verdicts.c.incident)
            .join(first, first.c.verdict == verdicts.c.id)
            .outerjoin(incident_verdicts, incident_verdicts.c.verdict == verdicts.c.id)
            .where(verdicts.c.job == job)
            .order_by(verdicts.c.id)
        )
        return tuple(
            VerdictLife(Verdict.from_json(row.document.encode()), row.known_at, row.incident)
            for row in rows
        )

    def _remember(self, verdict: Verdict, document: bytes) -> bool:
        digest = hashlib.sha256(document).hexdigest()
        known = select(verdict_states.c.number).where(
            verdict_states.c.verdict == verdict.id, verdict_states.c.digest == digest
        )
        if self._connection.scalar(known) is not None:
            return False
        self._connection.execute(
            insert(verdict_states).values(
                verdict=verdict.id,
                status=verdict.status.value,
                digest=digest,
                detected_at=verdict.detected_at,
                document=document.decode(),
            )
        )
        return True


def _rank(verdict: Verdict) -> tuple[int, datetime]:
    return _ORDER[verdict.status], verdict.detected_at


def _columns(verdict: Verdict, document: bytes) -> dict[str, Any]:
    return {
        "id": verdict.id,
        "job": verdict.job,
        "node": verdict.node,
        "status": verdict.status.value,
        "fault": verdict.fault.value,
        "severity": verdict.severity.value,
        "detected_at": verdict.detected_at,
        "document": document.decode(),
    }


def _selected(wanted: VerdictFilter) -> Select[str]:
    statement = select(verdicts.c.document)
    for column, value in (
        (verdicts.c.job, wanted.job),
        (verdicts.c.status, wanted.status),
        (verdicts.c.fault, wanted.fault),
    ):
        if value is not None:
            statement = statement.where(column == str(value))
    if wanted.node is not None:
        statement = statement.where(or_(verdicts.c.node == wanted.node, _is_member(wanted.node)))
    return statement.order_by(verdicts.c.detected_at.desc(), verdicts.c.id).limit(wanted.limit)


def _is_member(node: NodeName) -> ColumnElement[bool]:
    """Whether a verdict is about a group with this node in it; in a document the status follows the
    list of members."""
    pieces = ('"members": [', json.dumps(node), '], "status": ')
    pattern = f"%{'%'.join(map(_literal, pieces))}%"
    return and_(verdicts.c.node.is_(None), verdicts.c.document.like(pattern, escape="!"))


def _literal(text: str) -> str:
    """The text as a pattern that only it fits."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
