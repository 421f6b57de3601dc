"""The events that are kept: those that tell a job's life."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from paramedic.ingest.contract import Event, EventKind
from paramedic.remediation.store.tables import events

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy.engine import Connection

    from paramedic.ingest.contract import JobName

KEPT = frozenset(
    {EventKind.MEMBERSHIP, EventKind.PROCESS_EXIT, EventKind.JOB_STATE, EventKind.CHECKPOINT}
)
"""All other kinds may come by the thousand; diagnosis has seen them."""


class Events:
    """Events of one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, event: Event) -> bool:
        """Keep an event; False when it was there already or its kind is not kept."""
        if event.kind not in KEPT:
            return False
        document = event.to_json()
        digest = hashlib.sha256(document).hexdigest()
        known = select(events.c.number).where(events.c.digest == digest)
        if self._connection.scalar(known) is not None:
            return False
        self._connection.execute(
            insert(events).values(
                digest=digest,
                job=event.job,
                kind=event.kind.value,
                at=event.timestamp,
                document=document.decode(),
            )
        )
        return True

    def of_job(self, job: JobName, kinds: Collection[EventKind]) -> tuple[Event, ...]:
        """Events of a job in time order; of one moment, in order of arrival."""
        rows = self._connection.execute(
            select(events.c.document)
            .where(events.c.job == job, events.c.kind.in_([kind.value for kind in kinds]))
            .order_by(events.c.at, events.c.number)
        )
        return tuple(Event.from_json(row.document.encode()) for row in rows)
