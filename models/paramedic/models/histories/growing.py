"""Closed slots of one kind of row, kept as they come; holds what was observed and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paramedic.ingest.contract import Entity, EntityKey, Window

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Numbers = NDArray[np.float32 | np.float64]

BLOCK_SLOTS = 256


class GrowingPast:
    """Slots by their numbers (seconds over width), in blocks; an empty stretch takes no room."""

    def __init__(self, entity: Entity, slot_seconds: int) -> None:
        self._entity = entity
        self._width = slot_seconds
        self._rows: dict[EntityKey, int] = {}
        self._metrics: dict[str, int] = {}
        self._blocks: dict[int, Numbers] = {}
        self._places: tuple[Any, ...] = ((), (), None, None)

    @property
    def blocks(self) -> frozenset[int]:
        """The numbers of the blocks in which something was observed."""
        return frozenset(self._blocks)

    def put(self, window: Window, after: int | None) -> None:
        """Take over what was observed in slots that begin after this second; None: in all."""
        seconds = window.seconds
        begin = 0 if after is None else max(0, (after - seconds[0]) // self._width + 1)
        seen = window.observed[:, :, begin:].any(axis=(0, 1))
        if not seen.any():
            return
        rows, metrics = self._find(window)
        first = seconds[0] // self._width
        for at in (np.flatnonzero(seen) + begin).tolist():
            block, place = divmod(first + at, BLOCK_SLOTS)
            whole = self._block(block, window.values.dtype)
            whole[rows, metrics, place] = window.values[:, :, at]

    def observed_slots(self, block: int) -> NDArray[np.intp]:
        """The numbers of the slots of a block in which something was observed."""
        seen = ~np.isnan(self._blocks[block]).all(axis=(0, 1))
        return np.flatnonzero(seen) + block * BLOCK_SLOTS

    def touches(self, slots: range) -> bool:
        """Whether there is a block in which one of these slots lies."""
        return any(_overlap(block, slots) is not None for block in self._blocks)

    def release(self, slots: range, like: Window) -> Window:
        """These slots as a window, and let go of their blocks; job and generation as in `like`."""
        rows = sorted(self._rows, key=_row_order)
        metrics = sorted(self._metrics)
        values = np.full((len(rows), len(metrics), len(slots)), np.nan, like.values.dtype)
        own_rows = [self._rows[row] for row in rows]
        own_metrics = [self._metrics[metric] for metric in metrics]
        for number in sorted(self.blocks):
            shared = _overlap(number, slots)
            if shared is not None:
                whole = self._widened(self._blocks.pop(number))
                source, target = shared
                values[:, :, target] = whole[np.ix_(own_rows, own_metrics)][:, :, source]
        first = slots.start * self._width
        return Window(
            like.job, like.generation, self._entity, first, tuple(rows), tuple(metrics),
            values, ~np.isnan(values), self._width,
        )  # fmt: skip

    def _find(self, window: Window) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the window's rows and metrics are kept, giving new ones a place."""
        known_rows, known_metrics, rows, metrics = self._places
        if known_rows != window.rows or known_metrics != window.metrics:
            rows = _placed(self._rows, window.rows)[:, None]
            metrics = _placed(self._metrics, window.metrics)[None, :]
            self._places = (window.rows, window.metrics, rows, metrics)
        return rows, metrics

    def _block(self, number: int, precision: np.dtype[Any]) -> Numbers:
        block = self._blocks.get(number)
        if block is None:
            shape = (len(self._rows), len(self._metrics), BLOCK_SLOTS)
            block = self._blocks[number] = np.full(shape, np.nan, precision)
        elif block.shape[:2] != (len(self._rows), len(self._metrics)):
            block = self._blocks[number] = self._widened(block)
        return block

    def _widened(self, block: Numbers) -> Numbers:
        rows, metrics = len(self._rows) - block.shape[0], len(self._metrics) - block.shape[1]
        if not rows and not metrics:
            return block
        return np.pad(block, ((0, rows), (0, metrics), (0, 0)), constant_values=np.nan)


def _placed(known: dict[Any, int], names: tuple[Any, ...]) -> NDArray[np.intp]:
    return np.array([known.setdefault(name, len(known)) for name in names], np.intp)


def _overlap(block: int, slots: range) -> tuple[slice, slice] | None:
    """Which part of a block falls into the slots, and where it goes there."""
    begin = max(slots.start, block * BLOCK_SLOTS)
    end = min(slots.stop, (block + 1) * BLOCK_SLOTS)
    if begin >= end:
        return None
    own = block * BLOCK_SLOTS
    return slice(begin - own, end - own), slice(begin - slots.start, end - slots.start)


def _row_order(row: EntityKey) -> tuple[str, int]:
    return row.node, -1 if row.index is None else row.index


def runs(pasts: Mapping[Entity, GrowingPast], longest_hole_slots: int) -> list[range]:
    """The stretches of slots, over all kinds of rows, between holes that are longer than this."""
    seen = sorted(
        {
            slot
            for past in pasts.values()
            for block in past.blocks
            for slot in past.observed_slots(block).tolist()
        }
    )
    if not seen:
        return []
    ends = [at for at in range(1, len(seen)) if seen[at] - seen[at - 1] > longest_hole_slots + 1]
    begins = [0, *ends]
    return [
        range(seen[begin], seen[end - 1] + 1)
        for begin, end in zip(begins, [*ends, len(seen)], strict=True)
    ]
