"""One Parquet file of a recording: rows of one entity, whose metrics may become more on the way.

A Parquet file cannot get another column once it is begun. When a new metric turns up, a new piece
is begun; closing puts the pieces together, row group by row group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from paramedic.ingest.contract import Entity, Table, TelemetryBatch

_ROWS_A_GROUP = 100_000
_TIME = pa.timestamp("us", tz="UTC")
_INDEX_COLUMN = {Entity.GPU: "gpu", Entity.RANK: "rank"}
_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class _Rows:
    second: int
    generation: int
    table: Table
    arrived: Sequence[float] | None


class EntityFile:
    """Collects rows and writes them in groups."""

    def __init__(self, folder: Path, entity: Entity) -> None:
        self._folder = folder
        self._entity = entity
        self._rows: list[_Rows] = []
        self._held = 0
        self._pieces: list[Path] = []
        self._writer: pq.ParquetWriter | None = None

    def append(self, batch: TelemetryBatch, table: Table, arrived: Sequence[float] | None) -> None:
        """Take a table of the batch. Raises OSError when a group is due and cannot be written."""
        self._rows.append(_Rows(batch.second, batch.generation, table, arrived))
        self._held += len(table.nodes)
        if self._held >= _ROWS_A_GROUP:
            self._write()

    def close(self) -> None:
        """Write what is held and put the pieces together. Raises OSError."""
        self._write()
        self._end_piece()
        pieces, self._pieces = self._pieces, []
        if not pieces:
            return
        whole = self._folder / f"{self._entity.value}.parquet"
        if len(pieces) == 1:
            pieces[0].replace(whole)
            return
        _join(pieces, whole)
        for piece in pieces:
            piece.unlink()

    def _write(self) -> None:
        rows, self._rows, self._held = self._rows, [], 0
        if not rows:
            return
        group = self._group(rows)
        if self._writer is None or not set(group.column_names) <= set(self._writer.schema.names):
            self._end_piece()
            self._writer = self._begin_piece(group.schema)
        self._writer.write_table(_fitted(group, self._writer.schema))

    def _begin_piece(self, schema: pa.Schema) -> pq.ParquetWriter:
        piece = self._folder / f".{self._entity.value}.{len(self._pieces)}.parquet"
        self._pieces.append(piece)
        return pq.ParquetWriter(piece, schema, compression="zstd")

    def _end_piece(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _group(self, rows: Sequence[_Rows]) -> pa.Table:
        lengths = [len(one.table.nodes) for one in rows]
        seconds = np.repeat([one.second for one in rows], lengths)
        columns = {
            "timestamp": pa.array(seconds * _MICROSECONDS, pa.int64()).cast(_TIME),
            "node": pa.array([node for one in rows for node in one.table.nodes], pa.string()),
        }
        if any(one.arrived is not None for one in rows):
            columns["arrived"] = _times(rows)
        if self._entity in _INDEX_COLUMN:
            indices = np.concatenate([one.table.indices or () for one in rows])
            columns[_INDEX_COLUMN[self._entity]] = pa.array(indices.astype(np.int64))
        if self._entity is Entity.RANK:
            generations = np.repeat([one.generation for one in rows], lengths)
            columns["generation"] = pa.array(generations, pa.int64())
        metrics = sorted({metric for one in rows for metric in one.table.columns})
        return pa.table(columns | {metric: self._values(rows, metric) for metric in metrics})

    def _values(self, rows: Sequence[_Rows], metric: str) -> pa.Array:
        """Absent values are null. A heart-beat is a time, which a float32 could not hold."""
        kind = np.float64 if self._entity is Entity.RANK else np.float32
        parts = [_column(one.table, metric) for one in rows]
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


def _fitted(group: pa.Table, schema: pa.Schema) -> pa.Table:
    """The group with all columns of the schema, in its order; what it lacks is null."""
    for field in schema:
        if field.name not in group.column_names:
            group = group.append_column(field, pa.nulls(group.num_rows, field.type))
    return group.select(schema.names)


def _join(pieces: Sequence[Path], whole: Path) -> None:
    schema = pa.unify_schemas([pq.read_schema(piece) for piece in pieces])
    with pq.ParquetWriter(whole, schema, compression="zstd") as writer:
        for piece in pieces:
            with pq.ParquetFile(piece) as source:
                for number in range(source.num_row_groups):
                    writer.write_table(_fitted(source.read_row_group(number), schema))
