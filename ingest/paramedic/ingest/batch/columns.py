"""The columns of a table as they lie in a message: numbers are looked at in place, not copied."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paramedic.ingest.batch.schema import ValueType


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring columns of one type: one block of numbers, column after column."""

    first: int
    """Position of its first column in the table."""
    count: int
    value_type: ValueType
    begin_bytes: int
    end_bytes: int


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """Where the columns of a table lie, from the table's first value on."""

    columns: tuple[tuple[str, ValueType], ...]
    metrics: tuple[str, ...]
    spans: Mapping[str, tuple[int, int, ValueType]]
    """Metric id to the first byte, the byte after the last, and the type."""
    runs: tuple[Run, ...]
    size_bytes: int

    @classmethod
    def of(cls, columns: tuple[tuple[str, ValueType], ...], rows: int) -> ColumnLayout:
        """The layout of these columns, each with so many rows."""
        spans: dict[str, tuple[int, int, ValueType]] = {}
        runs: list[Run] = []
        end = 0
        for at, (metric, kind) in enumerate(columns):
            begin, end = end, end + rows * kind.width_bytes
            spans[metric] = (begin, end, kind)
            if runs and runs[-1].value_type is kind:
                before = runs.pop()
                runs.append(Run(before.first, before.count + 1, kind, before.begin_bytes, end))
            else:
                runs.append(Run(at, 1, kind, begin, end))
        return cls(columns, tuple(metric for metric, _ in columns), spans, tuple(runs), end)


class PackedColumns(Mapping[str, Sequence[float]]):
    """Metric id to the values of its column, which are views of the message's bytes.

    NumPy takes them, and whole runs of columns, without copying. They keep the message alive.
    """

    __slots__ = ("_layout", "_values")

    def __init__(self, layout: ColumnLayout, values: memoryview[int]) -> None:
        self._layout = layout
        self._values = values

    def __getitem__(self, metric: str) -> memoryview[float]:
        begin, end, value_type = self._layout.spans[metric]
        return _native(self._values[begin:end], value_type)

    def __iter__(self) -> Iterator[str]:
        return iter(self._layout.metrics)

    def __len__(self) -> int:
        return len(self._layout.metrics)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metric ids in their order; one object as long as the sender's header stays."""
        return self._layout.metrics

    def runs(self) -> Iterator[tuple[Run, memoryview[float]]]:
        """The runs of columns with their numbers."""
        for run in self._layout.runs:
            yield run, _native(self._values[run.begin_bytes : run.end_bytes], run.value_type)


def _native(values: memoryview[int], value_type: ValueType) -> memoryview[float]:
    if sys.byteorder == "little":
        return values.cast(value_type.typecode)
    swapped = array(value_type.typecode, values.tobytes())
    swapped.byteswap()
    return memoryview(swapped)
