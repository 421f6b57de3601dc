"""Declared maintenance, and which jobs were told of it."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update

from paramedic.ingest.contract import JobName, JobState, NodeName
from paramedic.remediation.contract import Maintenance
from paramedic.remediation.maintenance_words import Change, Word
from paramedic.remediation.store.tables import jobs, maintenance, maintenance_words, placements

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy.engine import Connection, Row

_WHOLE_JOB = "*"
"""In place of a node's name, where a word is about all of the job."""


class MaintenanceRows:
    """Maintenance of one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, one: Maintenance) -> None:
        """Keep it; what is known already stays as it is."""
        if self.get(one.id) is None:
            self._connection.execute(insert(maintenance).values(**_columns(one)))

    def end(self, maintenance_id: str, at: datetime) -> None:
        """It is over now, if it is not yet."""
        self._connection.execute(
            update(maintenance)
            .where(maintenance.c.id == maintenance_id)
            .where(maintenance.c.ended_at.is_(None), maintenance.c.ends > at)
            .values(ended_at=at)
        )

    def all(self) -> tuple[Maintenance, ...]:
        """Everything that is kept, the one that begins last first."""
        rows = self._connection.execute(
            select(maintenance).order_by(maintenance.c.begins.desc(), maintenance.c.number.desc())
        )
        return self._read(rows.all())

    def get(self, maintenance_id: str) -> Maintenance | None:
        """One, or None."""
        row = select(maintenance).where(maintenance.c.id == maintenance_id)
        return next(iter(self._read(self._connection.execute(row).all())), None)

    def unfinished(self, since: datetime) -> tuple[Maintenance, ...]:
        """What was not over before this moment by its own time, in the order of declaration."""
        rows = self._connection.execute(
            select(maintenance).where(maintenance.c.ends > since).order_by(maintenance.c.number)
        )
        return self._read(rows.all())

    def words(self, maintenance_id: str) -> tuple[Word, ...]:
        """What was told of it last: by job and node."""
        rows = self._connection.execute(
            select(maintenance_words).where(maintenance_words.c.maintenance == maintenance_id)
        )
        return tuple(
            Word(JobName(row.job), _node(row.node), Change(row.change), row.told_at) for row in rows
        )

    def note(self, maintenance_id: str, words: Iterable[Word]) -> None:
        """These words were told, in place of earlier ones to the same job about the same node."""
        kept = maintenance_words
        for word in words:
            node = word.node or _WHOLE_JOB
            self._connection.execute(
                delete(kept).where(
                    kept.c.maintenance == maintenance_id,
                    kept.c.job == word.job,
                    kept.c.node == node,
                )
            )
            self._connection.execute(
                insert(kept).values(
                    maintenance=maintenance_id,
                    job=word.job,
                    node=node,
                    change=word.change.value,
                    told_at=word.told_at,
                )
            )

    def jobs_of(self, nodes: Sequence[NodeName]) -> Mapping[NodeName, tuple[JobName, ...]]:
        """The jobs that each of these nodes is in now, of those that are not over."""
        found: dict[NodeName, list[JobName]] = defaultdict(list)
        rows = self._connection.execute(
            select(placements.c.node, placements.c.job)
            .join(jobs, jobs.c.name == placements.c.job)
            .where(placements.c.node.in_(nodes), placements.c.until.is_(None))
            .where(func.coalesce(jobs.c.state, "") != JobState.FINISHED.value)
            .order_by(placements.c.number)
        )
        for row in rows:
            found[NodeName(row.node)].append(JobName(row.job))
        return {node: tuple(dict.fromkeys(named)) for node, named in found.items()}

    def _read(self, rows: Sequence[Row[Any]]) -> tuple[Maintenance, ...]:
        told = self._connection.execute(
            select(maintenance_words.c.maintenance, maintenance_words.c.job)
            .where(maintenance_words.c.maintenance.in_([row.id for row in rows]))
            .distinct()
            .order_by(maintenance_words.c.job)
        ).all()
        return tuple(
            _maintenance(row, [word.job for word in told if word.maintenance == row.id])
            for row in rows
        )


def _columns(one: Maintenance) -> dict[str, Any]:
    return {
        "id": one.id,
        "nodes": json.dumps(one.nodes),
        "job": one.job,
        "begins": one.begins,
        "ends": one.ends,
        "reason": one.reason,
        "declared_at": one.declared_at,
        "ended_at": one.ended_at,
    }


def _maintenance(row: Row[Any], told: Sequence[str]) -> Maintenance:
    return Maintenance(
        id=row.id,
        nodes=tuple(NodeName(node) for node in json.loads(row.nodes)),
        job=None if row.job is None else JobName(row.job),
        begins=row.begins,
        ends=row.ends,
        reason=row.reason,
        declared_at=row.declared_at,
        ended_at=row.ended_at,
        told_jobs=tuple(JobName(job) for job in told),
    )


def _node(text: str) -> NodeName | None:
    return None if text == _WHOLE_JOB else NodeName(text)
