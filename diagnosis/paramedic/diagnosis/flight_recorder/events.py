"""What dumps tell, as events of their job: one for each rank that holds the others up."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from paramedic.diagnosis.flight_recorder.hanging import Holdup, holdups
from paramedic.diagnosis.flight_recorder.reading import RankDump
from paramedic.ingest.contract import Event, EventKind, JobName


def events_of_dumps(
    dumps: Sequence[RankDump], job: JobName, at_seconds: float | None = None
) -> tuple[Event, ...]:
    """An event a hanging rank, at this time (Unix seconds).

    Without a time they are of when the newest collective in any dump was begun: nothing that is in
    them happened later. A dump without times is of 1970.
    """
    newest = max((dump.newest_seconds for dump in dumps), default=0.0)
    when = datetime.fromtimestamp(newest if at_seconds is None else at_seconds, UTC)
    return tuple(_event(one, job, when) for one in holdups(dumps))


def _event(one: Holdup, job: JobName, when: datetime) -> Event:
    details: dict[str, str | int | float | bool | None] = {
        "group": one.group,
        "sequence": one.sequence,
        "waiting": one.waiting,
        "message": one.words(),
    }
    return Event(when, EventKind.FLIGHT_RECORDER, job, rank=one.rank, details=details)
