"""Keeps jobs, placements and the goodput ledger up to date from the event stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.ingest.contract import EventKind, JobState
from paramedic.remediation.ledger import book, goodput

if TYPE_CHECKING:
    from datetime import datetime

    from paramedic.ingest.contract import Event, JobName
    from paramedic.remediation.store.store import Store, Transaction

_TOLD_BY = (EventKind.JOB_STATE, EventKind.PROCESS_EXIT, EventKind.MEMBERSHIP)


@dataclass(frozen=True, slots=True)
class Bookkeeping:
    """From events to jobs, placements and ledger rows."""

    store: Store

    def take(self, event: Event) -> bool:
        """Store an event and what it says; False when it was known or is of no use here.

        Raises StoreUnavailableError and StoreDataError.
        """
        with self.store.writing() as tx:
            is_new = tx.events.add(event)
            if is_new:
                tx.jobs.apply(event)
        return is_new

    def bring_up_to(self, now: datetime, *, also: frozenset[JobName] = frozenset()) -> None:
        """Write the ledger of every running job, and of those in `also`, up to now.

        Raises StoreUnavailableError.
        """
        with self.store.reading() as view:
            jobs = [job for job in view.jobs.all() if job.state is not None]
        for job in jobs:
            if job.state is not JobState.FINISHED or job.name in also:
                with self.store.writing() as tx:
                    _rebook(tx, job.name, now)


def _rebook(tx: Transaction, job: JobName, now: datetime) -> None:
    rows = book(job, tx.events.of_job(job, _TOLD_BY), tx.verdicts.lives(job), now)
    tx.ledger.replace(job, rows)
    tx.jobs.set_goodput(job, goodput(rows))
