"""The goodput ledger's rows; only what changed is written again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select

from paramedic.ingest.contract import JobName
from paramedic.remediation.contract import LedgerClass, LedgerRow
from paramedic.remediation.store.tables import ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection, Row


class LedgerRows:
    """Ledger rows of one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def replace(self, job: JobName, rows: Sequence[LedgerRow]) -> None:
        """Make `rows` the ledger of the job."""
        before = {row.started_at: row for row in self.of_job(job)}
        after = {row.started_at: row for row in rows}
        for moment, row in before.items():
            if after.get(moment) != row:
                self._connection.execute(
                    delete(ledger).where(ledger.c.job == job, ledger.c.started_at == moment)
                )
        changed = [_columns(row) for moment, row in after.items() if before.get(moment) != row]
        if changed:
            self._connection.execute(insert(ledger), changed)

    def of_job(self, job: JobName) -> tuple[LedgerRow, ...]:
        """The ledger of a job in time order, without overlap or hole."""
        rows = self._connection.execute(
            select(ledger).where(ledger.c.job == job).order_by(ledger.c.started_at)
        )
        return tuple(_ledger_row(row) for row in rows)


def _columns(row: LedgerRow) -> dict[str, Any]:
    return {
        "job": row.job,
        "spent_on": row.spent_on.value,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "incident": row.incident,
    }


def _ledger_row(row: Row[Any]) -> LedgerRow:
    return LedgerRow(
        job=JobName(row.job),
        spent_on=LedgerClass(row.spent_on),
        started_at=row.started_at,
        ended_at=row.ended_at,
        incident=row.incident,
    )
