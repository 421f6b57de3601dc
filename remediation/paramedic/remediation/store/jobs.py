"""Jobs and placements: what the events say, kept up to date as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update

from paramedic.ingest.contract import EventKind, JobName, JobState, NodeName
from paramedic.remediation.contract import Job, Stay
from paramedic.remediation.store.tables import jobs, placements

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy.engine import Connection, Row

    from paramedic.ingest.contract import Event


class Jobs:
    """Jobs of one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self) -> tuple[Job, ...]:
        """Every job, newest start first."""
        rows = self._connection.execute(
            select(jobs).order_by(jobs.c.started_at.desc(), jobs.c.name)
        )
        return tuple(_job(row) for row in rows)

    def get(self, name: JobName) -> Job | None:
        """One job, or None."""
        row = self._row(name)
        return None if row is None else _job(row)

    def stays(self, name: JobName) -> tuple[Stay, ...]:
        """Placements of the job, the present ones first, then by rank; spares last."""
        rows = self._connection.execute(
            select(placements)
            .where(placements.c.job == name)
            .order_by(
                placements.c.until.is_not(None),
                placements.c.rank.is_(None),
                placements.c.rank,
                placements.c.number,
            )
        )
        return tuple(
            Stay(JobName(row.job), NodeName(row.node), row.rank, row.since, row.until)
            for row in rows
        )

    def apply(self, event: Event) -> None:
        """Take a new event in. An older event never overwrites what a newer one said."""
        row = self._row(event.job)
        if row is None:
            row = self._create(event)
        changes = _changes(row, event)
        if event.kind in (EventKind.MEMBERSHIP, EventKind.PROCESS_EXIT) and event.node is not None:
            self._move(event, event.node)
            changes["world_size"] = self._world_size(event.job)
        if changes:
            self._update(event.job, changes)

    def set_step(self, name: JobName, step: int, at: datetime) -> None:
        """Keep the newest step; one that an event told later than `at` stays."""
        row = self._row(name)
        if row is not None and _newer(at, row.step_at):
            self._update(name, {"step": step, "step_at": at})

    def set_goodput(self, name: JobName, goodput: float | None) -> None:
        """Keep the newest goodput, 0..1."""
        self._update(name, {"goodput": goodput})

    def _row(self, name: JobName) -> Row[Any] | None:
        return self._connection.execute(select(jobs).where(jobs.c.name == name)).first()

    def _create(self, event: Event) -> Row[Any]:
        self._connection.execute(
            insert(jobs).values(
                name=event.job,
                generation=event.generation or 0,
                world_size=0,
                started_at=event.timestamp,
            )
        )
        row = self._row(event.job)
        assert row is not None, "inserted in this transaction"
        return row

    def _update(self, name: JobName, changes: dict[str, Any]) -> None:
        self._connection.execute(update(jobs).where(jobs.c.name == name).values(**changes))

    def _move(self, event: Event, node: NodeName) -> None:
        change = event.details.get("change")
        if event.kind is EventKind.PROCESS_EXIT or change == "left":
            self._end_stay(event.job, node, event.timestamp)
        elif change == "joined":
            self._begin_stay(event, node)
        elif change == "replaced_by":
            self._end_stay(event.job, node, event.timestamp)
            self._begin_stay(event, NodeName(str(event.details["by"])))

    def _begin_stay(self, event: Event, node: NodeName) -> None:
        self._end_stay(event.job, node, event.timestamp)
        self._connection.execute(
            insert(placements).values(
                job=event.job, node=node, rank=event.rank, since=event.timestamp
            )
        )

    def _end_stay(self, job: JobName, node: NodeName, at: datetime) -> None:
        self._connection.execute(
            update(placements)
            .where(placements.c.job == job, placements.c.node == node, placements.c.until.is_(None))
            .values(until=at)
        )

    def _world_size(self, job: JobName) -> int:
        count = select(func.count(placements.c.rank.distinct())).where(
            placements.c.job == job, placements.c.until.is_(None)
        )
        return self._connection.scalar(count) or 0


def successors(
    connection: Connection, job: JobName, nodes: Sequence[str], since: datetime
) -> tuple[NodeName, ...]:
    """Who took over the ranks that these nodes gave up at `since` or later."""
    left, later = placements.alias("left"), placements.alias("later")
    heirs = (
        select(func.min(later.c.number))
        .join(left, (later.c.job == left.c.job) & (later.c.rank == left.c.rank))
        .where(left.c.job == job, left.c.node.in_(nodes))
        .where(left.c.until >= since, later.c.number > left.c.number)
        .group_by(left.c.number)
    )
    found = connection.scalars(
        select(placements.c.node)
        .where(placements.c.number.in_(heirs))
        .order_by(placements.c.number)
    )
    return tuple(NodeName(node) for node in found)


def _changes(row: Row[Any], event: Event) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if event.generation is not None and event.generation > row.generation:
        changes["generation"] = event.generation
    if event.timestamp < row.started_at:
        changes["started_at"] = event.timestamp
    if event.kind is EventKind.JOB_STATE and _newer(event.timestamp, row.state_at):
        state = JobState(str(event.details["state"]))
        ended_at = event.timestamp if state is JobState.FINISHED else None
        changes |= {"state": state.value, "state_at": event.timestamp, "ended_at": ended_at}
    step = event.details.get("step")
    if isinstance(step, int) and _newer(event.timestamp, row.step_at):
        changes |= {"step": step, "step_at": event.timestamp}
    return changes


def _newer(moment: datetime, known: datetime | None) -> bool:
    return known is None or moment >= known


def _job(row: Row[Any]) -> Job:
    return Job(
        name=JobName(row.name),
        state=None if row.state is None else JobState(row.state),
        generation=row.generation,
        world_size=row.world_size,
        started_at=row.started_at,
        ended_at=row.ended_at,
        step=row.step,
        goodput=row.goodput,
    )
