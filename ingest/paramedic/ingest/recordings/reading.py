"""Reads a recording: batches and events in the order in which the live run saw them.

Rows come in row groups, the earliest first, so that memory holds no more than the groups whose
times overlap, and the next ones: of files that are sorted, a few; of files in any order, all of
them. What comes next is read in a thread while what came last is being used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from paramedic.ingest.contract import Entity, JobName, NodeName
from paramedic.ingest.recordings.assembling import Assembler
from paramedic.ingest.recordings.description import JobDescription
from paramedic.ingest.recordings.description_reading import read_description
from paramedic.ingest.recordings.errors import RecordingFormatError
from paramedic.ingest.recordings.events_reading import RecordedEvents, read_events
from paramedic.ingest.recordings.inspection import Findings, Unit, inspect
from paramedic.ingest.recordings.recording import Outline, Portion, Recording
from paramedic.ingest.recordings.rows import RowReader
from paramedic.ingest.some_names import some_names
from paramedic.ingest.wording import counted

_KINDS = {Entity.GPU: "GPUs", Entity.RANK: "ranks"}

_Found = Mapping[Entity, Findings]


def open_recording(folder: Path) -> Recording:
    """Look through a recording. Raises RecordingFormatError for the first thing that is wrong."""
    job = read_description(folder)
    # Decoding needs no interpreter: of several files at a time it is done on several cores.
    with ThreadPoolExecutor(len(Entity), "inspection") as threads:
        inspected = threads.map(lambda entity: inspect(folder, entity), Entity)
        found = {one.entity: one for one in inspected if one.units}
    if not found:
        raise RecordingFormatError(
            f"{folder} holds no telemetry: neither node.parquet nor gpu.parquet nor rank.parquet"
            " has a row"
        )
    outline = _outline(job, found, read_events(folder, job.job))
    reader = _Reader(job.job, sorted(outline.nodes), found)
    return Recording(outline, lambda rows_at_once: _ahead(reader.portions(rows_at_once)))


def _outline(job: JobDescription, found: _Found, events: RecordedEvents) -> Outline:
    firsts = [one.first_second for one in found.values() if one.first_second is not None]
    lasts = [one.last_second for one in found.values() if one.last_second is not None]
    nodes = frozenset(NodeName(node) for one in found.values() for node in one.nodes)
    left_out = (
        f"{reason}: it is left out" for one in found.values() for reason in one.left_out.values()
    )
    return Outline(
        job=job,
        remarks=[
            *left_out,
            *_remarks_on_values(found),
            *events.remarks,
            *_remarks_on_job(job, found, nodes),
        ],
        seconds=range(min(firsts), max(lasts) + 1) if firsts else range(0),
        nodes=nodes,
        rows=sum(one.rows for one in found.values()),
        events=tuple(events.events),
    )


def _remarks_on_values(found: _Found) -> Iterator[str]:
    for entity, findings in found.items():
        counts = findings.too_large.most_common()
        if counts:
            yield (
                f"{entity.value}.parquet: {counted(findings.too_large.total(), 'value')}"
                " infinite or too large, taken for not observed:"
                f" {some_names(f'{number} of {metric}' for metric, number in counts)}"
            )


def _remarks_on_job(
    job: JobDescription, found: _Found, nodes: frozenset[NodeName]
) -> Iterator[str]:
    gpus = sum(node.gpus for node in job.nodes)
    for entity, count in ((Entity.GPU, gpus), (Entity.RANK, len(job.ranks))):
        if count and entity not in found:
            yield (
                f"{entity.value}.parquet is absent, or has no row, although job.json lists"
                f" {count} {_KINDS[entity]}: what needs it is not judged"
            )
    unlisted = sorted(nodes - {node.name for node in job.nodes})
    if unlisted:
        yield f"job.json does not list {some_names(unlisted)}: taken in without roles"


class _Reader:
    """Makes batches of what was found in the files."""

    def __init__(self, job: JobName, nodes: list[NodeName], found: _Found) -> None:
        self._job = job
        self._nodes = nodes
        self._found = found

    def portions(self, rows_at_once: int) -> Iterator[Portion]:
        """All batches, those first that are complete first."""
        metrics = {entity: one.usable_metrics for entity, one in self._found.items()}
        assembler, readers = Assembler(self._job, self._nodes, metrics), self._readers()
        units, due = self._units(), rows_at_once
        for at, (entity, unit) in enumerate(units):
            assembler.add(entity, readers[entity].read(unit))
            is_last = at + 1 == len(units)
            if assembler.held >= due or is_last:
                frontier = None if is_last else units[at + 1][1].earliest_arrival
                yield Portion(list(assembler.complete(frontier)), assembler.repeated)
                # Of files in any order nothing is complete before the end: do not look every time.
                due = max(rows_at_once, 2 * assembler.held)

    def _readers(self) -> dict[Entity, RowReader]:
        ranks = self._found.get(Entity.RANK)
        generations = {} if ranks is None else ranks.generations
        places = {str(node): at for at, node in enumerate(self._nodes)}
        return {
            entity: RowReader(entity, one.usable_metrics, places, generations, one.kept)
            for entity, one in self._found.items()
        }

    def _units(self) -> list[tuple[Entity, Unit]]:
        units = [(entity, unit) for entity, one in self._found.items() for unit in one.units]
        return sorted(units, key=lambda pair: (pair[1].earliest_arrival, pair[0], pair[1].position))


def _ahead(portions: Iterator[Portion]) -> Iterator[Portion]:
    """The same; the next one is made while the last is being used."""
    with ThreadPoolExecutor(1, "recording") as thread:
        coming = thread.submit(next, portions, None)
        while (portion := coming.result()) is not None:
            coming = thread.submit(next, portions, None)
            yield portion
