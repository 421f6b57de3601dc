"""Reads a row group of a recording as arrays, and says which row of it cannot be used."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paramedic.ingest.contract import Entity
from paramedic.ingest.recordings.errors import RecordingFormatError
from paramedic.ingest.recordings.layout import ARRIVED, GENERATION, INDEX_COLUMN, NODE, TIMESTAMP
from paramedic.ingest.recordings.moment import MICROSECONDS

_LARGEST = 2**31
_NOT_OBSERVED = pa.Array.from_buffers(
    pa.float64(), 1, [None, pa.py_buffer(np.array([np.nan]).tobytes())]
)[0]
"""NaN for pyarrow, made without pandas."""

Whole = NDArray[np.int64]
_PRECISION = {Entity.NODE: np.float32, Entity.GPU: np.float32, Entity.RANK: np.float64}
_OF_SENSORS = (Entity.NODE, Entity.GPU)
"""Where nothing is infinite: such a value was not observed, as it is when a source is read. The
trainer calls what is no number infinite, and means it."""


@dataclass(frozen=True, slots=True)
class Keys:
    """What the rows of a group speak of; times are microseconds since 1970."""

    seconds: Whole
    """Unix seconds."""
    arrivals: Whole
    """Where nothing is said: when the second was over, for then its values are there."""
    nodes: tuple[str, ...]
    """The names that occur."""
    node_codes: Whole
    """Of each row, a position in `nodes`."""
    indices: Whole
    """GPU or rank; 0 for node rows."""
    generations: Whole | None
    """None: the file does not tell."""


def keys_of(table: pa.Table, entity: Entity, path: Path, first_row: int) -> Keys:
    """The keys of a row group; `first_row` is the number of its first row in the file.

    Raises RecordingFormatError for the first row that lacks a key or has one that cannot be.
    """
    place = _Place(path, first_row)
    seconds = _microseconds(table.column(TIMESTAMP), place, TIMESTAMP) // MICROSECONDS
    names = place.text(table.column(NODE))
    index = INDEX_COLUMN.get(entity)
    has_generation = GENERATION in table.column_names
    return Keys(
        seconds=seconds,
        arrivals=_arrivals(table, seconds),
        nodes=tuple(names.dictionary.to_pylist()),
        node_codes=np.from_dlpack(names.indices).astype(np.int64),
        indices=np.zeros_like(seconds)
        if index is None
        else place.whole(table.column(index), index),
        generations=_generations(table, place) if has_generation else None,
    )


def values_of(table: pa.Table, metrics: tuple[str, ...], entity: Entity) -> NDArray[Any]:
    """The metrics as (metric, row); NaN where nothing was observed, also in whole columns."""
    values = np.empty((len(metrics), table.num_rows), _PRECISION[entity])
    present = set(table.column_names)
    with np.errstate(over="ignore"):  # what is too large for the precision is infinite
        for at, metric in enumerate(metrics):
            values[at] = _numbers(table.column(metric)) if metric in present else np.nan
    if entity in _OF_SENSORS:
        values[np.isinf(values)] = np.nan
    return values


def count_too_large(table: pa.Table, entity: Entity) -> Counter[str]:
    """By metric, how many values of sensors are infinite, or larger than what is kept of them."""
    found = Counter[str]()
    if entity in _OF_SENSORS:
        floats = (one for one in table.column_names if pa.types.is_floating(table[one].type))
        with np.errstate(over="ignore"):
            for name in floats:
                values = _numbers(table[name]).astype(_PRECISION[entity], copy=False)
                found[name] = int(np.count_nonzero(np.isinf(values)))
    return +found  # without those of which there is none


def _numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    kind = column.type
    if not (pa.types.is_float32(kind) or pa.types.is_float64(kind) or pa.types.is_float16(kind)):
        column = pc.cast(column, pa.float64(), safe=False)
    if column.null_count:
        column = pc.fill_null(column, _NOT_OBSERVED.cast(column.type))
    return _array_of(column)


def _array_of(column: pa.ChunkedArray) -> NDArray[Any]:
    """Numbers without nulls. pyarrow's own way imports pandas first, which takes long."""
    numbers: NDArray[Any] = np.from_dlpack(column.combine_chunks())
    return numbers


@dataclass(frozen=True, slots=True)
class _Place:
    path: Path
    first_row: int

    def wrong(self, column: str, row: int, what: str) -> RecordingFormatError:
        return RecordingFormatError(
            f"{self.path}: column {column}, row {self.first_row + row} (counted from 0): {what}"
        )

    def require_all(self, column: pa.ChunkedArray, name: str) -> None:
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy())[0])
            raise self.wrong(name, row, "no value, every row needs one: fill it or leave it out")

    def text(self, column: pa.ChunkedArray) -> Any:
        self.require_all(column, NODE)
        if pa.types.is_dictionary(column.type):
            column = pc.cast(column, column.type.value_type)
        column = pc.cast(column, pa.string())
        names = pc.dictionary_encode(column).combine_chunks()
        if "" in names.dictionary.to_pylist():
            row = pc.index(column, "").as_py()
            raise self.wrong(NODE, row, "an empty name: name the node, or leave the row out")
        return names

    def whole(self, column: pa.ChunkedArray, name: str) -> Whole:
        self.require_all(column, name)
        numbers = _array_of(pc.cast(column, pa.float64(), safe=False))
        bad = ~((numbers >= 0) & (numbers < _LARGEST) & (np.floor(numbers) == numbers))
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise self.wrong(name, row, f"{numbers[row]:g} is no whole number of 0 or more")
        return np.asarray(numbers.astype(np.int64))


def _microseconds(column: pa.ChunkedArray, place: _Place, name: str) -> Whole:
    place.require_all(column, name)
    return _array_of(_in_utc(column))


def _in_utc(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Microseconds since 1970; a time without a zone is UTC."""
    kind = column.type
    return pc.cast(pc.cast(column, pa.timestamp("us", tz=kind.tz), safe=False), pa.int64())


def _arrivals(table: pa.Table, seconds: Whole) -> Whole:
    over = (seconds + 1) * MICROSECONDS
    if ARRIVED not in table.column_names:
        return over
    column = _in_utc(table.column(ARRIVED))
    if not column.null_count:
        return _array_of(column)
    missing = column.is_null().to_numpy()
    return np.where(missing, over, pc.fill_null(column, 0).to_numpy())


def _generations(table: pa.Table, place: _Place) -> Whole:
    """A row that does not tell is of the first."""
    column = table.column(GENERATION)
    if column.null_count:
        column = pc.fill_null(column, pa.scalar(0, column.type))
    return place.whole(column, GENERATION)
