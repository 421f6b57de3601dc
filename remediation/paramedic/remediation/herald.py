"""Tells jobs of declared maintenance: what is in the database goes to the events topic.

A word is noted when the bus has accepted it: after a crash in between it is told twice, which
changes nothing. A node that joins a job later, or another job, is told of then. What lasts is told
again now and then, because topics forget with time.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from paramedic.ingest.contract import Event, EventKind, Topic, format_time
from paramedic.remediation.maintenance_words import Change, Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from paramedic.ingest.contract import JobName, NodeName, Publisher
    from paramedic.remediation.contract import Maintenance
    from paramedic.remediation.store.store import Store, Transaction

_log = logging.getLogger(__name__)

_EVERY = timedelta(seconds=1)
_AGAIN = timedelta(hours=6)
_LATE_END = timedelta(days=1)
"""An end that could not be told for so long is not news any more."""
_FLUSH_SECONDS = 5.0


@dataclass(slots=True)
class Herald:
    """Goes round once a second."""

    _went_at: datetime | None = None

    def tell(self, store: Store, publisher: Publisher, now: datetime) -> None:
        """Tell what is due. Raises StoreUnavailableError or BusUnavailableError; tried again."""
        if self._went_at is not None and now - self._went_at < _EVERY:
            return
        with store.reading() as view:
            due = {
                one: words
                for one in view.maintenance.unfinished(now - _LATE_END)
                if (words := tuple(_due(one, view, now)))
            }
        for one, words in due.items():
            _publish(one, words, publisher)
            with store.writing() as tx:
                tx.maintenance.note(one.id, words)
        self._went_at = now


def _due(one: Maintenance, view: Transaction, now: datetime) -> Iterator[Word]:
    told = {(word.job, word.node): word for word in view.maintenance.words(one.id)}
    if one.ended_at is not None:
        for word in told.values():
            if word.change is not Change.ENDED:
                yield Word(word.job, word.node, Change.ENDED, now)
    elif now < one.ends:
        for job, node in _concerned(one, view.maintenance.jobs_of(one.nodes)):
            known = told.get((job, node))
            if known is None or now - known.told_at >= _AGAIN:
                yield Word(job, node, Change.DECLARED, now)


def _concerned(
    one: Maintenance, jobs: Mapping[NodeName, Sequence[JobName]]
) -> Iterator[tuple[JobName, NodeName | None]]:
    """Whom it is about: a job by its name, whether it is known yet or not, or where nodes are."""
    if one.job is not None:
        for node in one.nodes or (None,):
            yield one.job, node
        return
    for node, found in jobs.items():
        for job in found:
            yield job, node


def _publish(one: Maintenance, words: Sequence[Word], publisher: Publisher) -> None:
    for word in words:
        begins = min(one.begins, one.over_at)
        details = {
            "id": one.id,
            "change": word.change.value,
            "begins": format_time(begins),
            "ends": format_time(one.over_at),
            "reason": one.reason,
        }
        event = Event(word.told_at, EventKind.MAINTENANCE, word.job, word.node, details=details)
        publisher.publish(Topic.EVENTS, f"{word.job}/0", event.to_json())
    publisher.flush(_FLUSH_SECONDS)
    jobs = sorted({word.job for word in words})
    _log.info("maintenance %s: %s told to %s", one.id, words[0].change.value, ", ".join(jobs))
