"""The values of one entity kind over time, by the names of rows and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paramedic.ingest.contract import Entity, EntityKey, NodeName
from paramedic.ingest.windows.row_places import stretch
from paramedic.ingest.windows.slot_array import Numbers, SlotArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.windows.row_places import RowPlaces
    from paramedic.ingest.windows.slot_array import Room

RowName = tuple[NodeName, int | None]
"""Node, and GPU index or rank (None for node rows)."""

_METRIC_SETS_KEPT = 256


@dataclass(frozen=True, slots=True)
class SlotsSnapshot:
    """The state of EntitySlots; `values` is (slot, metric, row), NaN where not observed."""

    entity: Entity
    rows: tuple[RowName, ...]
    metrics: tuple[str, ...]
    first_slot: int
    values: NDArray[Numbers]


class EntitySlots:
    """Slots of one entity kind; rows and metrics appear when they are first entered.

    A row keeps its position, by which it is written, as long as `version` stays.
    """

    def __init__(self, entity: Entity, room: Room, snapshot: SlotsSnapshot | None = None) -> None:
        self._entity = entity
        self._rows: dict[RowName, int] = {}
        self._metrics: dict[str, int] = {}
        self._metric_sets: dict[tuple[str, ...], NDArray[np.intp] | slice] = {}
        self._array = SlotArray(room, _precision(entity))
        self._keys: tuple[EntityKey, ...] | None = None
        self.version = 0
        """Grows whenever rows change their positions."""
        if snapshot is not None:
            self._rows = {row: at for at, row in enumerate(snapshot.rows)}
            self._metrics = {metric: at for at, metric in enumerate(snapshot.metrics)}
            self._array.fill(snapshot.first_slot, snapshot.values)
            self._array.widen(len(self._metrics), len(self._rows))

    def snapshot(self) -> SlotsSnapshot:
        """A copy of the state."""
        self.row_keys()
        return SlotsSnapshot(
            self._entity,
            tuple(self._rows),
            tuple(self._metrics),
            self._array.held.start,
            self._array.copied(),
        )

    def enter(self, rows: Iterable[RowName]) -> NDArray[np.intp]:
        """The position of each row, giving new ones one."""
        known, free = self._rows, self._array.rows
        positions = []
        for row in rows:
            at = known.setdefault(row, free)
            free += at == free
            positions.append(at)
        if free > self._array.rows:
            self._array.widen(self._array.metrics, free)
            self._keys = None
        return np.array(positions, np.intp)

    def write(
        self,
        slot: int,
        keep_from: int,
        rows: RowPlaces,
        metrics: tuple[str, ...],
        block: NDArray[np.floating[Any]],
    ) -> int:
        """Put a block (metric, row) into a slot; NaN leaves alone what is there.

        Slots before `keep_from` may be let go. Returns how many rows wrote over a value.
        """
        lines = self._lines(metrics)
        if not (rows.positions.size and metrics):
            return 0
        values, touched = self._array.slot(slot, keep_from)
        twice = 0
        seen = touched[rows.where]
        if seen.any():
            values[:, rows.positions[~seen]] = np.nan
            at = np.arange(self._array.metrics)[lines]
            block, twice = _merged(values[np.ix_(at, rows.positions)], block)
        elif len(metrics) < self._array.metrics:
            values[:, rows.where] = np.nan
        touched[rows.where] = True
        if block.dtype != values.dtype:
            with np.errstate(over="ignore"):  # what is too large for the precision is infinite
                block = block.astype(values.dtype)
        rows.put(values, lines, block)
        return twice

    def is_heard(self, slot: int) -> bool:
        """Whether any row has come of this slot."""
        return self._array.is_touched(slot)

    def read(
        self, first: int, last: int, keep_from: int
    ) -> tuple[NDArray[Numbers], NDArray[np.bool_]]:
        """Values and mask (row, metric, slot) of the slots, both included, as read-only views.

        Rows and metrics are in the order of `row_keys` and `metrics`. The views hold until the
        next write, read or departure.
        """
        self.row_keys()
        return self._array.span(first, last, keep_from)

    def row_keys(self) -> tuple[EntityKey, ...]:
        """The rows, sorted by node and index."""
        if self._keys is None:
            rows, metrics = sorted(self._rows, key=_row_order), sorted(self._metrics)
            self._arrange(rows, metrics)
            self._keys = tuple(EntityKey(self._entity, *row) for row in rows)
        return self._keys

    def metrics(self) -> tuple[str, ...]:
        """The metric ids, sorted."""
        self.row_keys()
        return tuple(self._metrics)

    def forget(self, gone: Callable[[RowName], bool]) -> None:
        """Let go of the rows that the predicate names, past included."""
        kept = {row: at for row, at in self._rows.items() if not gone(row)}
        if len(kept) < len(self._rows):
            self._rows, self._keys = kept, None
            self.version += 1

    def clear(self) -> None:
        """Let go of all values; rows and metrics stay."""
        self._array.clear()

    def _arrange(self, rows: Sequence[RowName], metrics: Sequence[str]) -> None:
        """Bring rows and metrics into this order; positions that nobody has are given back."""
        row_order = [self._rows[row] for row in rows]
        metric_order = [self._metrics[metric] for metric in metrics]
        in_order = row_order == list(range(self._array.rows))
        if in_order and metric_order == list(range(self._array.metrics)):
            return
        self._array.arrange(metric_order, row_order)
        self._rows = {row: at for at, row in enumerate(rows)}
        self._metrics = {metric: at for at, metric in enumerate(metrics)}
        self._metric_sets.clear()
        self.version += 1

    def _lines(self, metrics: tuple[str, ...]) -> NDArray[np.intp] | slice:
        """The position of each metric, giving new ones one."""
        known = self._metric_sets.get(metrics)
        if known is None:
            before = len(self._metrics)
            places = [self._metrics.setdefault(name, len(self._metrics)) for name in metrics]
            if len(self._metrics) > before:
                self._array.widen(len(self._metrics), self._array.rows)
                self._keys = None
            if len(self._metric_sets) >= _METRIC_SETS_KEPT:
                self._metric_sets.clear()
            known = self._metric_sets[metrics] = stretch(np.array(places, np.intp))
        return known


def _merged(
    there: NDArray[Numbers], block: NDArray[np.floating[Any]]
) -> tuple[NDArray[np.floating[Any]], int]:
    """The block, with what is there in place of NaN, and how many rows write over a value."""
    present = ~np.isnan(block)
    twice = (present & ~np.isnan(there)).any(axis=0)
    return np.where(present, block, there), int(np.count_nonzero(twice))


def _precision(entity: Entity) -> type[Numbers]:
    """Ranks are few, and their step numbers must keep every digit."""
    return np.float64 if entity is Entity.RANK else np.float32


def _row_order(row: RowName) -> tuple[NodeName, int]:
    node, index = row
    return node, -1 if index is None else index
