"""Looks through the files of an entity before anything of them is used.

Everything is decoded once, so that a defect is told before the first verdict and not in the midst
of them. A metric's column that cannot be decoded is left out as a whole: if only the damaged rows
were missing they would look like a machine that stopped reporting, and absence is a symptom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paramedic.ingest.contract import Entity
from paramedic.ingest.recordings.columns_of_file import (
    FileColumns,
    columns_of,
    is_refused,
    reason_of,
    unreadable,
)
from paramedic.ingest.recordings.errors import RecordingFormatError
from paramedic.ingest.recordings.layout import files_of
from paramedic.ingest.recordings.parquet_files import reading
from paramedic.ingest.recordings.row_group import Keys, count_too_large, keys_of

DAMAGED = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What pyarrow raises for bytes that are not what they should be."""
_KEPT_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class Unit:
    """A row group that is to be read."""

    path: Path
    number: int
    first_row: int
    """Counted over the whole file."""
    position: int
    """Where its rows stand among all of the entity: what is later wins."""
    rows: int
    columns: FileColumns
    earliest_arrival: int
    """Microseconds since 1970."""


@dataclass(slots=True)
class Findings:
    """What is known of an entity's files."""

    entity: Entity
    units: list[Unit] = field(default_factory=list)
    metrics: dict[str, None] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Columns that cannot be used, and why."""
    too_large: Counter[str] = field(default_factory=Counter)
    """By metric, how many values are infinite, or too large to be kept."""
    nodes: set[str] = field(default_factory=set)
    generations: dict[int, int] = field(default_factory=dict)
    """Where the file tells: each generation and its first second."""
    first_second: int | None = None
    last_second: int | None = None
    rows: int = 0
    kept: dict[tuple[Path, int], pa.Table] = field(default_factory=dict)
    """The first row groups as they were decoded, by file and number: a recording that is not large
    is decoded once."""
    kept_bytes: int = 0

    @property
    def usable_metrics(self) -> tuple[str, ...]:
        """The metrics that are read."""
        return tuple(metric for metric in self.metrics if metric not in self.left_out)


def inspect(folder: Path, entity: Entity) -> Findings:
    """Look through all rows of an entity. Raises RecordingFormatError."""
    findings = Findings(entity)
    for path in _files(folder, entity):
        columns = columns_of(path, entity)
        findings.metrics.update(dict.fromkeys(columns.metrics))
        for name, what in columns.unusable.items():
            findings.left_out[name] = f"{path.name}: column {name} {what}"
        for table, number, first_row in _row_groups(path, columns, findings):
            findings.too_large += count_too_large(table, entity)
            _note(findings, path, number, first_row, columns, table)
            _keep(findings, path, number, columns, table)
    return findings


def _files(folder: Path, entity: Entity) -> Iterator[Path]:
    try:
        yield from files_of(folder, entity)
    except DAMAGED as error:
        raise unreadable(f"{folder}: the file of {entity.value} rows", error) from error


def _row_groups(
    path: Path, columns: FileColumns, findings: Findings
) -> Iterator[tuple[pa.Table, int, int]]:
    """The keys of each row group, with its number and first row; all its columns were decoded."""
    first_row = 0
    with reading(path) as file:
        for number in range(file.num_row_groups):
            table = _decoded(file, path, number, columns, findings)
            yield table, number, first_row
            first_row += table.num_rows


def _decoded(
    file: pq.ParquetFile, path: Path, number: int, columns: FileColumns, findings: Findings
) -> pa.Table:
    wanted = [*columns.keys, *(m for m in columns.metrics if m not in findings.left_out)]
    try:
        return file.read_row_group(number, wanted, use_threads=False)
    except DAMAGED as error:
        if is_refused(error):
            raise unreadable(str(path), error) from error
        for metric in wanted[len(columns.keys) :]:
            reason = _damage(file, number, metric)
            if reason is not None:
                findings.left_out[metric] = (
                    f"{path.name}: column {metric} is damaged in row group {number} ({reason})"
                )
        return _keys_alone(file, path, number, columns)


def _keys_alone(file: pq.ParquetFile, path: Path, number: int, columns: FileColumns) -> pa.Table:
    for name in columns.keys:
        reason = _damage(file, number, name)
        if reason is not None:
            raise RecordingFormatError(
                f"{path}: column {name} is damaged in row group {number} ({reason}), and no row"
                " can be used without it: copy the file again"
            )
    return file.read_row_group(number, list(columns.keys), use_threads=False)


def _damage(file: pq.ParquetFile, number: int, column: str) -> str | None:
    try:
        file.read_row_group(number, [column], use_threads=False)
    except DAMAGED as error:
        return reason_of(error)
    return None


def _note(
    findings: Findings,
    path: Path,
    number: int,
    first_row: int,
    columns: FileColumns,
    group: pa.Table,
) -> None:
    if not group.num_rows:
        return
    keys = keys_of(group, findings.entity, path, first_row)
    findings.units.append(
        Unit(
            path=path,
            number=number,
            first_row=first_row,
            position=findings.rows,
            rows=group.num_rows,
            columns=columns,
            earliest_arrival=int(keys.arrivals.min()),
        )
    )
    findings.rows += group.num_rows
    findings.nodes.update(keys.nodes)
    _note_times(findings, keys)


def _keep(
    findings: Findings, path: Path, number: int, columns: FileColumns, table: pa.Table
) -> None:
    """Hold on to what was decoded, unless it is much, or not all that can be used."""
    usable = set(columns.metrics).difference(findings.left_out)
    if usable.issubset(table.column_names) and findings.kept_bytes < _KEPT_BYTES:
        findings.kept[path, number] = table
        findings.kept_bytes += table.nbytes


def _note_times(findings: Findings, keys: Keys) -> None:
    first, last = int(keys.seconds.min()), int(keys.seconds.max())
    known = (findings.first_second, findings.last_second)
    findings.first_second = min(first, first if known[0] is None else known[0])
    findings.last_second = max(last, last if known[1] is None else known[1])
    if keys.generations is None:
        return
    for generation in np.unique(keys.generations).tolist():
        begun = int(keys.seconds[keys.generations == generation].min())
        findings.generations[generation] = min(begun, findings.generations.get(generation, begun))
