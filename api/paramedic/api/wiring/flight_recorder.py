"""Dumps of flight recorders, as they are given to a tool: what they say, and as events of a job."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.telling import tell, tell_lines
from paramedic.api.wiring.wording import counted
from paramedic.diagnosis.flight_recorder.errors import FlightRecorderError
from paramedic.diagnosis.flight_recorder.events import events_of_dumps
from paramedic.diagnosis.flight_recorder.hanging import holdups
from paramedic.diagnosis.flight_recorder.reading import read_dumps
from paramedic.ingest.contract import format_time
from paramedic.ingest.recordings.moment import MICROSECONDS, Moment

if TYPE_CHECKING:
    from paramedic.diagnosis.flight_recorder.reading import RankDump
    from paramedic.ingest.recordings.recording import Recording


def explain_dumps(folder: Path, stdout: TextIO, stderr: TextIO, *, as_json: bool) -> int:
    """Say which ranks hold the others up. Raises InputError."""
    dumps = _read(folder)
    found = holdups(dumps)
    if as_json:
        ranks = [
            {"rank": one.rank, "group": one.group, "sequence": one.sequence, "waiting": one.waiting}
            for one in found
        ]
        tell(stdout, json.dumps({"dumps": len(dumps), "ranks": ranks}) + "\n")
        return 0
    lines = [one.words() for one in found] or ["nobody holds the others up"]
    tell_lines(stderr, (*lines, f"({counted(len(dumps), 'dump')})"))
    return 0


def dumps_as_moments(folder: Path | None, recording: Recording) -> list[Moment]:
    """What the dumps tell of this recording's job, when it had happened. Raises InputError."""
    if folder is None:
        return []
    dumps, job = _read(folder), recording.job
    nodes = {one.rank: one.node for one in job.ranks}
    is_timed = any(dump.newest_seconds > 0 for dump in dumps)
    events = events_of_dumps(dumps, job.job, None if is_timed else recording.seconds.stop)
    if events and not _is_within(events[0].timestamp, recording):
        raise InputError(
            f"--flight-recorder: {folder}: its newest collective was begun at"
            f" {format_time(events[0].timestamp)}, and the recording of {job.job} is of another"
            " time: name the dumps of its own hang"
        )
    placed = [replace(one, node=nodes.get(one.rank)) for one in events if one.rank is not None]
    return [Moment(int(one.timestamp.timestamp() * MICROSECONDS), one) for one in placed]


def merged(moments: Iterable[Moment], given: Sequence[Moment]) -> Iterator[Moment]:
    """The moments with those that are given beside them, each in its place."""
    waiting = sorted(given, key=lambda one: one.arrived)
    for moment in moments:
        while waiting and waiting[0].arrived <= moment.arrived:
            yield waiting.pop(0)
        yield moment
    yield from waiting


def _is_within(when: datetime, recording: Recording) -> bool:
    first, last = recording.seconds.start, recording.seconds.stop
    return datetime.fromtimestamp(first, UTC) <= when <= datetime.fromtimestamp(last, UTC)


def _read(folder: Path) -> tuple[RankDump, ...]:
    try:
        return read_dumps(folder)
    except FlightRecorderError as error:
        raise InputError(f"--flight-recorder: {error}") from error
