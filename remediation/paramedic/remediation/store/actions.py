"""Actions: one row for each intended outside effect, written before it is asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from paramedic.diagnosis.contract import RecommendedAction
from paramedic.ingest.contract import NodeName
from paramedic.remediation.contract import Action, ActionState
from paramedic.remediation.store.tables import actions, incidents

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row
    from sqlalchemy.sql import Select

    from paramedic.ingest.contract import JobName

_UNFINISHED = (ActionState.PLANNED.value, ActionState.ACTING.value)


class Actions:
    """Actions of one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, action: Action) -> bool:
        """Store a new action; False when its idempotency key is there already."""
        known = select(actions.c.id).where(actions.c.idempotency_key == action.idempotency_key)
        if self._connection.scalar(known) is not None:
            return False
        self._connection.execute(insert(actions).values(**_columns(action)))
        return True

    def update(self, action: Action) -> None:
        """Store the new state of a known action."""
        self._connection.execute(
            update(actions).where(actions.c.id == action.id).values(**_columns(action))
        )

    def of_incident(self, incident_id: str) -> tuple[Action, ...]:
        """The actions of one incident, oldest first."""
        return self._many(select(actions).where(actions.c.incident == incident_id))

    def of_job(self, job: JobName) -> tuple[Action, ...]:
        """The actions of one job, oldest first."""
        of_its_incidents = select(actions).join(incidents, incidents.c.id == actions.c.incident)
        return self._many(of_its_incidents.where(incidents.c.job == job))

    def unfinished(self) -> tuple[Action, ...]:
        """Planned and acting ones, oldest first."""
        return self._many(select(actions).where(actions.c.state.in_(_UNFINISHED)))

    def _many(self, statement: Select[Any]) -> tuple[Action, ...]:
        rows = self._connection.execute(statement.order_by(actions.c.number))
        return tuple(_action(row) for row in rows)


def _columns(action: Action) -> dict[str, Any]:
    return {
        "id": action.id,
        "incident": action.incident,
        "kind": action.kind.value,
        "target": action.target,
        "launcher": action.launcher,
        "state": action.state.value,
        "dry_run": action.dry_run,
        "idempotency_key": action.idempotency_key,
        "requested_by": action.requested_by,
        "approved_by": action.approved_by,
        "calls": json.dumps(action.calls),
        "result": action.result,
        "details": json.dumps(dict(action.details)),
    }


def _action(row: Row[Any]) -> Action:
    return Action(
        id=row.id,
        incident=row.incident,
        kind=RecommendedAction(row.kind),
        target=NodeName(row.target),
        launcher=row.launcher,
        state=ActionState(row.state),
        dry_run=row.dry_run,
        idempotency_key=row.idempotency_key,
        requested_by=row.requested_by,
        approved_by=row.approved_by,
        calls=tuple(json.loads(row.calls)),
        result=row.result,
        details=json.loads(row.details),
    )
