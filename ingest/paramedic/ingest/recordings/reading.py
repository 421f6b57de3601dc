"""Reads a recording: batches and events in the order in which the live run saw them.

Rows come in row groups, the earliest first, so that memory holds no more than the groups whose
times overlap, and the next ones: of files that are sorted, a few; of files in any order, all of
them. What comes next is read in a thread while what came last is being used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from heapq import merge
from pathlib import Path

from paramedic.ingest.contract import Entity, NodeName
from paramedic.ingest.recordings.assembling import Assembler
from paramedic.ingest.recordings.description import JobDescription
from paramedic.ingest.recordings.description_reading import read_description
from paramedic.ingest.recordings.errors import RecordingFormatError
from paramedic.ingest.recordings.events_reading import RecordedEvents, read_events
from paramedic.ingest.recordings.inspection import Findings, Unit, inspect
from paramedic.ingest.recordings.moment import MICROSECONDS, Moment
from paramedic.ingest.recordings.rows import RowReader
from paramedic.ingest.some_names import some_names
from paramedic.ingest.wording import counted

_ROWS_AT_ONCE = 60_000
_KINDS = {Entity.GPU: "GPUs", Entity.RANK: "ranks"}


@dataclass(frozen=True, slots=True)
class _Portion:
    """Batches that are complete at the same point of reading."""

    moments: list[Moment]
    repeated_rows: int
    """Of all that has been read by then."""


class Recording:
    """A recording that has been looked through: what is told of it is known before it is read."""

    def __init__(
        self, job: JobDescription, findings: Mapping[Entity, Findings], events: RecordedEvents
    ) -> None:
        self.job = job
        self._findings = findings
        self._events = events
        self.repeated_rows = 0
        """Rows that said again what another row had said, as far as it has been read."""

    @property
    def remarks(self) -> list[str]:
        """What is not as it should be, and what becomes of it; a line each."""
        left_out = [
            f"{reason}: it is left out"
            for findings in self._findings.values()
            for reason in findings.left_out.values()
        ]
        return [
            *left_out,
            *self._remarks_on_values(),
            *self._events.remarks,
            *self._remarks_on_job(),
        ]

    @property
    def seconds(self) -> range:
        """From the first second that telemetry speaks of to the last."""
        firsts = [f.first_second for f in self._findings.values() if f.first_second is not None]
        lasts = [f.last_second for f in self._findings.values() if f.last_second is not None]
        return range(min(firsts), max(lasts) + 1) if firsts else range(0)

    @property
    def ends(self) -> int:
        """The Unix second at which telemetry and events have been told."""
        heard = (one.arrived // MICROSECONDS + 1 for one in self._events.events[-1:])
        return max(self.seconds.stop, *heard, 0)

    @property
    def nodes(self) -> frozenset[NodeName]:
        """Every node that telemetry speaks of."""
        return frozenset(
            NodeName(node) for findings in self._findings.values() for node in findings.nodes
        )

    @property
    def rows(self) -> int:
        """Rows of all files."""
        return sum(findings.rows for findings in self._findings.values())

    def moments(self, rows_at_once: int = _ROWS_AT_ONCE) -> Iterator[Moment]:
        """Everything, in the order of its arrival; what arrives with a batch comes after it."""
        events = [Moment(one.arrived, one.event) for one in self._events.events]
        return merge(self._batches(rows_at_once), events, key=lambda one: one.arrived)

    def _batches(self, rows_at_once: int) -> Iterator[Moment]:
        for portion in _ahead(self._portions(rows_at_once)):
            self.repeated_rows = portion.repeated_rows
            yield from portion.moments

    def _portions(self, rows_at_once: int) -> Iterator[_Portion]:
        nodes = sorted(self.nodes)
        metrics = {entity: one.usable_metrics for entity, one in self._findings.items()}
        assembler = Assembler(self.job.job, nodes, metrics)
        readers = self._readers({str(node): at for at, node in enumerate(nodes)})
        units, due = self._units(), rows_at_once
        for at, (entity, unit) in enumerate(units):
            assembler.add(entity, readers[entity].read(unit))
            is_last = at + 1 == len(units)
            if assembler.held >= due or is_last:
                frontier = None if is_last else units[at + 1][1].earliest_arrival
                yield _Portion(list(assembler.complete(frontier)), assembler.repeated)
                # Of files in any order nothing is complete before the end: do not look every time.
                due = max(rows_at_once, 2 * assembler.held)

    def _readers(self, node_places: dict[str, int]) -> dict[Entity, RowReader]:
        ranks = self._findings.get(Entity.RANK)
        generations = {} if ranks is None else ranks.generations
        return {
            entity: RowReader(entity, findings.usable_metrics, node_places, generations)
            for entity, findings in self._findings.items()
        }

    def _units(self) -> list[tuple[Entity, Unit]]:
        units = [(entity, unit) for entity, one in self._findings.items() for unit in one.units]
        return sorted(units, key=lambda pair: (pair[1].earliest_arrival, pair[0], pair[1].position))

    def _remarks_on_values(self) -> Iterator[str]:
        for entity, findings in self._findings.items():
            counts = findings.too_large.most_common()
            if counts:
                yield (
                    f"{entity.value}.parquet: {counted(findings.too_large.total(), 'value')}"
                    " infinite or too large, taken for not observed:"
                    f" {some_names(f'{number} of {metric}' for metric, number in counts)}"
                )

    def _remarks_on_job(self) -> Iterator[str]:
        gpus = sum(node.gpus for node in self.job.nodes)
        for entity, count in ((Entity.GPU, gpus), (Entity.RANK, len(self.job.ranks))):
            if count and entity not in self._findings:
                yield (
                    f"{entity.value}.parquet is absent, or has no row, although job.json lists"
                    f" {count} {_KINDS[entity]}: what needs it is not judged"
                )
        yield from self._remark_on_nodes()

    def _remark_on_nodes(self) -> Iterator[str]:
        listed = {node.name for node in self.job.nodes}
        unlisted = sorted(self.nodes - listed)
        if unlisted:
            yield f"job.json does not list {some_names(unlisted)}: taken in without roles"


def _ahead(portions: Iterator[_Portion]) -> Iterator[_Portion]:
    """The same; the next one is made while the last is being used."""
    with ThreadPoolExecutor(1, "recording") as thread:
        coming = thread.submit(next, portions, None)
        while (portion := coming.result()) is not None:
            coming = thread.submit(next, portions, None)
            yield portion


def open_recording(folder: Path) -> Recording:
    """Look through a recording. Raises RecordingFormatError for the first thing that is wrong."""
    job = read_description(folder)
    # Decoding needs no interpreter: of several files at a time it is done on several cores.
    with ThreadPoolExecutor(len(Entity), "inspection") as threads:
        found = threads.map(lambda entity: inspect(folder, entity), Entity)
        findings = {one.entity: one for one in found if one.units}
    if not findings:
        raise RecordingFormatError(
            f"{folder} holds no telemetry: neither node.parquet nor gpu.parquet nor rank.parquet"
            " has a row"
        )
    return Recording(job, findings, read_events(folder, job.job))
