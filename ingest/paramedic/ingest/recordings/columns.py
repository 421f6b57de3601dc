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
    TIMESTAMP,
    holding,
    part_file,
    parts_of,
    whole_file,
)

_TIME = pa.timestamp("us", tz="UTC")
_MICROSECONDS = 1_000_000

WritePart = Callable[[pa.Table, Path], None]


@dataclass(frozen=True, slots=True)
class _Rows:
    number: int
    """Of the batch, in the order in which they came."""
    second: int
    generation: int
    table: Table
    arrived: Sequence[float] | None


class EntityFile:
    """Collects rows and writes them as parts. What could not be written is held on to."""

    def __init__(self, folder: Path, entity: Entity, write: WritePart = write_whole) -> None:
        self._folder = folder
        self._entity = entity
        self._write_part = write
        self._rows: list[_Rows] = []
        self.held = 0
        """Rows that are not written yet."""
        self._parts = 0
        self.rows = 0
        """Rows that are in the folder."""
        self.rows_lost = 0

    def append(
        self, number: int, batch: TelemetryBatch, table: Table, arrived: Sequence[float] | None
    ) -> None:
        """Take a table of the batch, which is the one with this number."""
        self._rows.append(_Rows(number, batch.second, batch.generation, table, arrived))
        self.held += len(table.nodes)

    def write(self, until: int) -> Path | None:
        """Write what is held of the batches before this one; it is held on to until it is settled.

        Returns the part, if there is anything to write. Raises OSError when that cannot be done.
        """
        due = [one for one in self._rows if one.number < until]
        if not due:
            return None
        part = part_file(self._folder, self._entity, self._parts)
        self._write_part(self._as_arrow(due), part)
        return part

    def settle(self, until: int) -> None:
        """What was written stays in the folder and is held no more."""
        written = self._let_go(until)
        self.rows += written
        self._parts += 1 if written else 0

    def give_up(self, until: int) -> None:
        """What is held of the batches before this one is lost."""
        self.rows_lost += self._let_go(until)

    def join(self) -> None:
        """Put the parts together. Raises OSError; the parts stay readable."""
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

    def _let_go(self, until: int) -> int:
        """Returns how many rows these were."""
        gone = sum(len(one.table.nodes) for one in self._rows if one.number < until)
        self._rows = [one for one in self._rows if one.number >= until]
        self.held -= gone
        return gone

    def _as_arrow(self, rows: Sequence[_Rows]) -> pa.Table:
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
