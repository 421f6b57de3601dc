"""Counts of what is stored, for the metrics page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, true

from paramedic.remediation.contract import Tally
from paramedic.remediation.store.tables import actions, incidents, verdict_states, verdicts

if TYPE_CHECKING:
    from sqlalchemy import Column, ColumnElement
    from sqlalchemy.engine import Connection


def tally(connection: Connection) -> Tally:
    """Count verdicts, incidents and actions by their labels."""
    changes = _counts(connection, verdict_states.c.status)
    return Tally(
        verdicts=_counts(connection, verdicts.c.status, verdicts.c.fault, verdicts.c.severity),
        verdict_changes={status: count for (status,), count in changes.items()},
        incidents_open=_counts(
            connection,
            incidents.c.job,
            incidents.c.severity,
            where=incidents.c.closed_at.is_(None),
        ),
        actions=_counts(connection, actions.c.kind, actions.c.state),
    )


def _counts(
    connection: Connection, *columns: Column[Any], where: ColumnElement[bool] | None = None
) -> dict[Any, int]:
    chosen = true() if where is None else where
    rows = connection.execute(select(*columns, func.count()).where(chosen).group_by(*columns))
    return {tuple(row[:-1]): row[-1] for row in rows}
