"""Rows of one entity on their way to Parquet: gathered, written as parts, joined at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paramedic.ingest.contract import Entity, Table, TelemetryBatch
from paramedic.ingest.recordings.joining import join, write_whole
from paramedic.ingest.recordings.layout import (
    ARRIVED,
    GENERATION,
    INDEX_COLUMN,
    NODE,
    ROWS_A_GROUP,
    TIMESTAMP,
    holding,
    part_file,
    parts_of,
    whole_file,
)

_GROUPS_KEPT = 4
"""So many times the rows of a part wait while the disk is full; then the oldest are lost."""
_TIME = pa.timestamp("us", tz="UTC")
_MICROSECONDS = 1_000_000

WritePart = Callable[[pa.Table, Path], None]


@dataclass(frozen=True, slots=True)
class _Rows:
    second: int
    generation: int
    table: Table
    arrived: Sequence[float] | None


class EntityFile:
    """Collects rows and writes them as parts. What could not be written is tried again."""

    def __init__(
        self,
        folder: Path,
        entity: Entity,
        rows_a_group: int = ROWS_A_GROUP,
        write: WritePart = write_whole,
    ) -> None:
        """`rows_a_group`: how many rows are held before they are written."""
        self._folder = folder
        self._entity = entity
        self._rows_a_group = rows_a_group
        self._write_part = write
        self._rows: list[_Rows] = []
        self.held = 0
        """Rows that are not written yet."""
        self._due_at = rows_a_group
        self._parts = 0
        self.rows = 0
        """Rows that are in the folder."""
        self.rows_lost = 0

    def append(self, batch: TelemetryBatch, table: Table, arrived: Sequence[float] | None) -> None:
        """Take a table of the batch."""
        self._rows.append(_Rows(batch.second, batch.generation, table, arrived))
        self.held += len(table.nodes)

    @property
    def is_due(self) -> bool:
        """Whether so many rows are held that they are to be written."""
        return self.held >= self._due_at

    def flush(self) -> None:
        """Write what is held. Raises OSError, and holds on to it, when that cannot be done."""
        if not self._rows:
            return
        try:
            self._write_part(self._as_arrow(), part_file(self._folder, self._entity, self._parts))
        except OSError:
            self._due_at = self.held + self._rows_a_group
            self._shed()
            raise
        self.rows += self.held
        self._parts += 1
        self._rows, self.held, self._due_at = [], 0, self._rows_a_group

    def close(self) -> None:
        """Write what is held and put the parts together. Raises OSError; parts stay readable."""
        self.flush()
        parts = [path for _, path in parts_of(self._folder, self._entity)]
        if not parts:
            return
        whole = whole_file(self._folder, self._entity)
        if len(parts) == 1:
            parts[0].replace(whole)
            return
        join(parts, whole, holding(self._parts))
        for part in parts:
            part.unlink()

    def _shed(self) -> None:
        """Let the oldest rows go where too many wait."""
        while self.held > _GROUPS_KEPT * self._rows_a_group:
            oldest = len(self._rows.pop(0).table.nodes)
            self.held -= oldest
            self.rows_lost += oldest

    def _as_arrow(self) -> pa.Table:
        rows = self._rows
        lengths = [len(one.table.nodes) for one in rows]
        seconds = np.repeat([one.second for one in rows], lengths)
        columns = {
            TIMESTAMP: pa.array(seconds * _MICROSECONDS, pa.int64()).cast(_TIME),
            NODE: pa.array([node for one in rows for node in one.table.nodes], pa.string()),
        }
        if self._entity in INDEX_COLUMN:
            indices = np.concatenate([one.table.indices or () for one in rows])
            columns[INDEX_COLUMN[self._entity]] = pa.array(indices.astype(np.int64))
        if any(one.arrived is not None for one in rows):
            columns[ARRIVED] = _times(rows)
        if self._entity is Entity.RANK or any(one.generation for one in rows):
            generations = np.repeat([one.generation for one in rows], lengths)
            columns[GENERATION] = pa.array(generations, pa.int64())
        metrics = sorted({metric for one in rows for metric in one.table.columns})
        return pa.table(columns | {metric: self._values(rows, metric) for metric in metrics})

    def _values(self, rows: Sequence[_Rows], metric: str) -> pa.Array:
        """Absent values are null. A heart-beat is a time, which a float32 could not hold."""
        kind = np.float64 if self._entity is Entity.RANK else np.float32
        parts = [_column(one.table, metric) for one in rows]
        with np.errstate(over="ignore"):  # what is too large for the precision is infinite
            return pa.array(np.concatenate(parts).astype(kind), from_pandas=True)


def _column(table: Table, metric: str) -> NDArray[np.float64]:
    column = table.columns.get(metric)
    if column is None:
        return np.full(len(table.nodes), np.nan)
    return np.asarray(column, dtype=np.float64)


def _times(rows: Sequence[_Rows]) -> pa.Array:
    parts = [
        np.full(len(one.table.nodes), np.nan) if one.arrived is None else np.array(one.arrived)
        for one in rows
    ]
    times = np.concatenate(parts)
    microseconds = np.rint(np.nan_to_num(times) * _MICROSECONDS).astype(np.int64)
    return pa.array(microseconds, pa.int64(), mask=np.isnan(times)).cast(_TIME)
