"""Incidents, and which verdict belongs to which."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update

from paramedic.diagnosis.contract import Fault, Severity
from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.contract import Incident, IncidentState
from paramedic.remediation.store.jobs import successors
from paramedic.remediation.store.tables import incident_verdicts, incidents, verdict_states

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy.engine import Connection, Row

    from paramedic.remediation.contract import IncidentFilter

_OPEN = (
    select(incidents)
    .where(incidents.c.closed_at.is_(None))
    .order_by(incidents.c.opened_at, incidents.c.id)
)


class Incidents:
    """Incidents of one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, incident: Incident) -> None:
        """Store an incident; storing the same twice changes nothing."""
        columns = _columns(incident)
        if self.get(incident.id) is None:
            self._connection.execute(insert(incidents).values(**columns))
        else:
            self._connection.execute(
                update(incidents).where(incidents.c.id == incident.id).values(**columns)
            )
        for verdict in incident.verdicts:
            self._link(incident.id, verdict)

    def get(self, incident_id: str) -> Incident | None:
        """One incident, or None."""
        row = self._connection.execute(
            select(incidents).where(incidents.c.id == incident_id)
        ).first()
        return None if row is None else self._incident(row)

    def of_verdict(self, verdict_id: str) -> Incident | None:
        """The incident that a verdict belongs to, or None."""
        found: str | None = self._connection.scalar(
            select(incident_verdicts.c.incident).where(incident_verdicts.c.verdict == verdict_id)
        )
        return None if found is None else self.get(found)

    def open_of(self, job: JobName) -> tuple[Incident, ...]:
        """The incidents of a job that are not closed, oldest first."""
        return self._many(_OPEN.where(incidents.c.job == job))

    def open(self) -> tuple[Incident, ...]:
        """All incidents that are not closed, oldest first."""
        return self._many(_OPEN)

    def find(self, wanted: IncidentFilter) -> tuple[Incident, ...]:
        """Incidents, newest first."""
        statement = select(incidents)
        if wanted.job is not None:
            statement = statement.where(incidents.c.job == wanted.job)
        if wanted.state is not None:
            statement = statement.where(incidents.c.state == wanted.state.value)
        newest = statement.order_by(incidents.c.opened_at.desc(), incidents.c.id)
        return self._many(newest.limit(wanted.limit))

    def _many(self, statement: Any) -> tuple[Incident, ...]:
        rows: Iterable[Row[Any]] = self._connection.execute(statement).all()
        return tuple(self._incident(row) for row in rows)

    def _link(self, incident_id: str, verdict_id: str) -> None:
        if self.of_verdict(verdict_id) is not None:
            return
        count = select(func.count()).where(incident_verdicts.c.incident == incident_id)
        self._connection.execute(
            insert(incident_verdicts).values(
                verdict=verdict_id,
                incident=incident_id,
                position=self._connection.scalar(count) or 0,
            )
        )

    def _incident(self, row: Row[Any]) -> Incident:
        linked = self._connection.scalars(
            select(incident_verdicts.c.verdict)
            .where(incident_verdicts.c.incident == row.id)
            .order_by(incident_verdicts.c.position)
        )
        return Incident(
            id=row.id,
            job=JobName(row.job),
            state=IncidentState(row.state),
            severity=Severity(row.severity),
            fault=Fault(row.fault),
            nodes=tuple(NodeName(node) for node in json.loads(row.nodes)),
            verdicts=tuple(linked),
            opened_at=row.opened_at,
            closed_at=row.closed_at,
            summary=row.summary,
            detected_at=self._detected_at(row.id),
            taken_over_by=successors(
                self._connection, JobName(row.job), json.loads(row.nodes), row.opened_at
            ),
        )

    def _detected_at(self, incident_id: str) -> datetime | None:
        """The first state of any of its verdicts: a later one may say a later time."""
        found: datetime | None = self._connection.scalar(
            select(func.min(verdict_states.c.detected_at))
            .join(incident_verdicts, incident_verdicts.c.verdict == verdict_states.c.verdict)
            .where(incident_verdicts.c.incident == incident_id)
        )
        return found


def _columns(incident: Incident) -> dict[str, Any]:
    return {
        "id": incident.id,
        "job": incident.job,
        "state": incident.state.value,
        "severity": incident.severity.value,
        "fault": incident.fault.value,
        "nodes": json.dumps(incident.nodes),
        "opened_at": incident.opened_at,
        "closed_at": incident.closed_at,
        "summary": incident.summary,
    }
