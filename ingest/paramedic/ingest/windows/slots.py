"""The values of one entity kind over time, as one array with its mask.

The arrays have the axes (slot, metric, row): a second is written into one contiguous block, and a
window is a view. A closed slot is never written again, and whatever has to move (growth, order,
rows that leave, old seconds) moves into a new array, so a view that was handed out stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from paramedic.ingest.contract import Entity, EntityKey, NodeName

if TYPE_CHECKING:
    from numpy.typing import NDArray

RowName = tuple[NodeName, int | None]
"""Node, and GPU index or rank (None for node rows)."""

_Name = TypeVar("_Name")
_Kind = TypeVar("_Kind", bound=np.generic)

_SPARE_SLOTS = 32
"""Slots beyond what is needed, so that the array moves only every half minute."""
_LEAST_CAPACITY = 8


@dataclass(frozen=True, slots=True)
class SlotsSnapshot:
    """The state of EntitySlots; arrays are (slot, metric, row)."""

    entity: Entity
    rows: tuple[RowName, ...]
    metrics: tuple[str, ...]
    first_second: int
    values: NDArray[np.float64]
    observed: NDArray[np.bool_]


class EntitySlots:
    """Slots of one second each; rows and metrics appear when they are first written."""

    def __init__(self, entity: Entity, snapshot: SlotsSnapshot | None = None) -> None:
        self._entity = entity
        self._rows: dict[RowName, int] = {}
        self._metrics: dict[str, int] = {}
        self._first_second = 0
        self._used = 0
        self._values, self._observed = _blank(0, _LEAST_CAPACITY, _LEAST_CAPACITY)
        self._keys: tuple[EntityKey, ...] | None = None
        if snapshot is not None:
            self._restore(snapshot)

    def snapshot(self) -> SlotsSnapshot:
        """A copy of the state."""
        part = np.s_[: self._used, : len(self._metrics), : len(self._rows)]
        return SlotsSnapshot(
            self._entity,
            tuple(self._rows),
            tuple(self._metrics),
            self._first_second,
            self._values[part].copy(),
            self._observed[part].copy(),
        )

    def write(
        self,
        second: int,
        keep_from: int,
        rows: Iterable[RowName],
        metrics: Sequence[str],
        block: NDArray[np.float64],
    ) -> int:
        """Put a block (metric, row) into a second; NaN leaves alone what is there.

        Seconds before `keep_from` may be let go. Returns how many rows wrote over a value.
        """
        row_ids, metric_ids = self._enter(rows, metrics)
        self._cover(keep_from, second)
        at = np.ix_(metric_ids, row_ids)
        values = self._values[second - self._first_second]
        observed = self._observed[second - self._first_second]
        present, known = ~np.isnan(block), observed[at]
        values[at] = block if present.all() else np.where(present, block, values[at])
        observed[at] = known | present
        return int((known & present).any(axis=0).sum()) if known.any() else 0

    def read(
        self, first: int, last: int, keep_from: int
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Values and mask (row, metric, slot) of the seconds, both included, as read-only views.

        Rows and metrics are in the order of `row_keys` and `metrics`.
        """
        self._sort()
        self._cover(min(first, keep_from), last)
        start = first - self._first_second
        part = np.s_[start : last - self._first_second + 1, : len(self._metrics), : len(self._rows)]
        return _frozen(self._values[part]), _frozen(self._observed[part])

    def row_keys(self) -> tuple[EntityKey, ...]:
        """The rows, sorted by node and index."""
        return self._sort()

    def metrics(self) -> tuple[str, ...]:
        """The metric ids, sorted."""
        self._sort()
        return tuple(self._metrics)

    def forget(self, gone: Callable[[RowName], bool]) -> None:
        """Let go of the rows that the predicate names, past included."""
        kept = {row: at for row, at in self._rows.items() if not gone(row)}
        if len(kept) < len(self._rows):
            self._rearrange(kept, self._metrics)

    def clear(self) -> None:
        """Let go of all values; rows and metrics stay."""
        self._values, self._observed = _blank(0, *self._values.shape[1:])
        self._used = 0

    def _restore(self, snapshot: SlotsSnapshot) -> None:
        self._rows = {row: at for at, row in enumerate(snapshot.rows)}
        self._metrics = {metric: at for at, metric in enumerate(snapshot.metrics)}
        self._first_second, self._used = snapshot.first_second, len(snapshot.values)
        self._values, self._observed = snapshot.values.copy(), snapshot.observed.copy()

    def _enter(
        self, rows: Iterable[RowName], metrics: Sequence[str]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        before = len(self._rows), len(self._metrics)
        row_ids = np.array(_places(self._rows, rows), np.intp)
        metric_ids = np.array(_places(self._metrics, metrics), np.intp)
        if (len(self._rows), len(self._metrics)) != before:
            self._keys = None
        return row_ids, metric_ids

    def _sort(self) -> tuple[EntityKey, ...]:
        """Rows and metrics in their order, if new ones have come since it was last asked for."""
        if self._keys is None:
            rows, metrics = sorted(self._rows, key=_row_order), sorted(self._metrics)
            if rows != list(self._rows) or metrics != list(self._metrics):
                self._rearrange(
                    {row: self._rows[row] for row in rows},
                    {metric: self._metrics[metric] for metric in metrics},
                )
            self._keys = tuple(EntityKey(self._entity, *row) for row in rows)
        return self._keys

    def _rearrange(self, rows: dict[RowName, int], metrics: dict[str, int]) -> None:
        """Bring the given rows and metrics, each with its present place, into the order given."""
        slots, old_metrics, old_rows = self._values.shape
        values, observed = _blank(slots, old_metrics, old_rows)
        values[: self._used], observed[: self._used] = np.nan, False
        source = np.ix_(range(self._used), list(metrics.values()), list(rows.values()))
        target = np.s_[: self._used, : len(metrics), : len(rows)]
        values[target], observed[target] = self._values[source], self._observed[source]
        self._values, self._observed = values, observed
        self._rows = {row: at for at, row in enumerate(rows)}
        self._metrics = {metric: at for at, metric in enumerate(metrics)}
        self._keys = None

    def _cover(self, first: int, last: int) -> None:
        """Make room for the seconds, both included, and for every row and metric."""
        slots, metrics, rows = self._values.shape
        wide = len(self._metrics) <= metrics and len(self._rows) <= rows
        long = self._first_second <= first and last < self._first_second + slots
        if not (wide and long):
            self._move(first, last)
        needed = last - self._first_second + 1
        if needed > self._used:
            self._values[self._used : needed] = np.nan
            self._observed[self._used : needed] = False
            self._used = needed

    def _move(self, first: int, last: int) -> None:
        """Into larger arrays that begin at `first`; what both hold is taken along."""
        _, metrics, rows = self._values.shape
        end = max(last + 1, self._first_second + self._used) if self._used else last + 1
        values, observed = _blank(
            end - first + _SPARE_SLOTS,
            _capacity(len(self._metrics), metrics),
            _capacity(len(self._rows), rows),
        )
        held = max(first, self._first_second)
        source = np.s_[max(0, held - self._first_second) : self._used]
        begin = held - first
        stop = begin + len(self._values[source])
        wider = values.shape[1:] != self._values.shape[1:]
        for new, old, nothing in (
            (values, self._values, np.nan),
            (observed, self._observed, False),
        ):
            # Filling costs as much as copying, so only what is not copied over is filled.
            new[: stop if wider else begin], new[stop : end - first] = nothing, nothing
            new[begin:stop, :metrics, :rows] = old[source]
        self._values, self._observed = values, observed
        self._first_second, self._used = first, end - first


def _places(known: dict[_Name, int], names: Iterable[_Name]) -> list[int]:
    """The place of each name, giving new ones the next."""
    return [known.setdefault(name, len(known)) for name in names]


def _blank(slots: int, metrics: int, rows: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    shape = (slots, metrics, rows)
    return np.empty(shape, np.float64), np.empty(shape, np.bool_)


def _capacity(needed: int, present: int) -> int:
    return present if needed <= present else max(_LEAST_CAPACITY, needed + needed // 8)


def _frozen(part: NDArray[_Kind]) -> NDArray[_Kind]:
    """A (row, metric, slot) view that cannot be written through."""
    view = part.transpose(2, 1, 0)
    view.flags.writeable = False
    return view


def _row_order(row: RowName) -> tuple[NodeName, int]:
    node, index = row
    return node, -1 if index is None else index
