"""Cuts a stretch of time out of a ring, or out of a recording, into a recording of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paramedic.ingest.contract import Entity, EventKind, JobName, format_time
from paramedic.ingest.recordings.columns_of_file import reason_of, unreadable
from paramedic.ingest.recordings.description import JOB_FILE, JobDescription
from paramedic.ingest.recordings.description_reading import read_description
from paramedic.ingest.recordings.errors import CutError, RecordingFormatError
from paramedic.ingest.recordings.events_reading import read_events
from paramedic.ingest.recordings.inspection import DAMAGED
from paramedic.ingest.recordings.joining import join
from paramedic.ingest.recordings.layout import TIMESTAMP, files_of, whole_file
from paramedic.ingest.recordings.looking import looking
from paramedic.ingest.recordings.moment import MICROSECONDS, HeardEvent
from paramedic.ingest.recordings.parquet_files import metadata_of
from paramedic.ingest.recordings.ring import segments
from paramedic.ingest.recordings.writing import RecordingWriter, told

_BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
_END = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Stretch:
    """From one moment to another, both included."""

    first: datetime = _BEGINNING
    last: datetime = _END

    def holds(self, moment: datetime) -> bool:
        """Whether the moment is in it."""
        return self.first <= moment <= self.last


@dataclass(frozen=True, slots=True)
class Cutting:
    """What was cut out."""

    job: JobName
    rows: int
    events: int


def cut(source: Path, target: Path, stretch: Stretch, job: JobName | None) -> Cutting:
    """Write a recording of what a ring or recording holds of a stretch of time.

    Raises CutError when that is nothing, when another job is named than there is, or when the ring
    holds several jobs and none is named;
    RecordingError when something cannot be read or written.
    """
    folders = _folders_of(source, job)
    sources = {
        entity: [path for folder in folders for path in _overlapping(folder, entity, stretch)]
        for entity in Entity
    }
    if not any(sources.values()):
        raise CutError(f"{source} holds no telemetry{_words(stretch)}{_held_by(folders)}")
    events = _events_of(folders, stretch)
    description = _united([read_description(folder) for folder in folders])
    with RecordingWriter(target, description) as writer:
        for one in events:
            writer.event(one.event, None if one.heard is None else one.heard / MICROSECONDS)
    rows = sum(_cut_rows(paths, target, one, stretch) for one, paths in sources.items() if paths)
    return Cutting(description.job, rows, len(events))


def _folders_of(source: Path, job: JobName | None) -> list[Path]:
    """The recordings of one job, oldest first."""
    with looking():
        is_recording = (source / JOB_FILE).exists()
        everything = [source] if is_recording else segments(source)
        found = [folder for folder in everything if (folder / JOB_FILE).exists()]
    jobs = {folder: read_description(folder).job for folder in found}
    names = sorted(set(jobs.values()))
    if job is None and len(names) > 1:
        raise CutError(f"{source} holds {', '.join(names)}: choose one with --job")
    chosen = [folder for folder in found if job in (None, jobs[folder])]
    if not chosen:
        held = f"; it holds {', '.join(names)}" if names else ""
        what = "no recording" if job is None else f"nothing of job {job}"
        raise CutError(f"{source} holds {what}{held}")
    return chosen


def _overlapping(folder: Path, entity: Entity, stretch: Stretch) -> list[Path]:
    """The files with rows of the stretch, as far as their statistics tell."""
    try:
        spans = [(path, _span(path)) for path in files_of(folder, entity)]
    except DAMAGED as error:
        raise unreadable(f"{folder}: the file of {entity.value} rows", error) from error
    return [
        path
        for path, span in spans
        if span is None or (span[0] <= stretch.last and stretch.first <= span[1])
    ]


def _span(path: Path) -> tuple[datetime, datetime] | None:
    """The first and last time in a file; None where it does not tell."""
    metadata = metadata_of(path)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    at = metadata.schema.names.index(TIMESTAMP)
    statistics = [group.column(at).statistics for group in groups]
    if not statistics or not all(one is not None and one.has_min_max for one in statistics):
        return None
    firsts, lasts = [one.min for one in statistics], [one.max for one in statistics]
    return _aware(min(firsts)), _aware(max(lasts))


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _cut_rows(paths: Sequence[Path], target: Path, entity: Entity, stretch: Stretch) -> int:
    def keep(group: pa.Table) -> pa.Table:
        times = group.column(TIMESTAMP)
        first, last = (_as_arrow(one, times.type) for one in (stretch.first, stretch.last))
        chosen = pc.and_(pc.greater_equal(times, first), pc.less_equal(times, last))
        return group.filter(chosen)

    with told(target):
        try:
            return join(paths, whole_file(target, entity), {}, keep)
        except pa.ArrowException as error:
            raise RecordingFormatError(
                f"{paths[0].parent}: the {entity.value} rows cannot be read ({reason_of(error)})"
            ) from error


def _as_arrow(moment: datetime, kind: pa.TimestampType) -> pa.Scalar:
    """The moment in a column's unit; the ends of time are too far away for nanoseconds."""
    near = min(max(moment, datetime(1678, 1, 1, tzinfo=UTC)), datetime(2262, 1, 1, tzinfo=UTC))
    return pa.scalar(near if kind.tz is not None else near.replace(tzinfo=None), kind)


def _events_of(folders: Sequence[Path], stretch: Stretch) -> list[HeardEvent]:
    """The events of the stretch, each once, and before them what the job was doing at first."""
    chosen: dict[bytes, HeardEvent] = {}
    state: HeardEvent | None = None
    for folder in folders:
        for one in read_events(folder, read_description(folder).job).events:
            if stretch.holds(one.event.timestamp):
                chosen.setdefault(one.event.to_json(), one)
            elif one.event.timestamp < stretch.first and one.event.kind is EventKind.JOB_STATE:
                state = one
    return [*([] if state is None else [state]), *chosen.values()]


def _united(descriptions: Sequence[JobDescription]) -> JobDescription:
    """Everybody who was ever there; of whom several speak, the last one holds."""
    nodes = {node.name: node for one in descriptions for node in one.nodes}
    ranks = {rank.rank: rank for one in descriptions for rank in one.ranks}
    return replace(descriptions[-1], nodes=tuple(nodes.values()), ranks=tuple(ranks.values()))


def _words(stretch: Stretch) -> str:
    words = (
        f" {word} {format_time(moment)}"
        for word, moment, unsaid in (
            ("from", stretch.first, _BEGINNING),
            ("to", stretch.last, _END),
        )
        if moment != unsaid
    )
    return "".join(words)


def _held_by(folders: Sequence[Path]) -> str:
    """What there is instead, for an error."""
    spans = [
        span
        for folder in folders
        for entity in Entity
        for path in files_of(folder, entity)
        if (span := _span(path)) is not None
    ]
    if not spans:
        return ""
    first, last = min(span[0] for span in spans), max(span[1] for span in spans)
    return f"; it holds from {format_time(first)} to {format_time(last)}"
