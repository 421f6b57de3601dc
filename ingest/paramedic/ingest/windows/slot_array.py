"""Numbers over time, in place: one array with its mask, which slides when its end is reached.

The axes are (slot, metric, row): a slot is written into one contiguous block, and a window is a
view of neighbouring slots. Slots are numbered on the grid of the job. Old slots are let go by
moving the others to the front once enough have gathered, so each slot moves once in its
life, nothing is ever there twice, and memory that was never written to is never taken. What lies
in rows that were not written to is not settled before it is read: most are written first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from paramedic.ingest.windows.row_places import ROW_ROOM_MULTIPLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

_LEAST_CAPACITY = 8
_LEAST_SPARE_SLOTS = 32
_PAST_AT_ONCE = 16
"""The slots before a job's first are filled with holes little by little, not when first read."""

Numbers = np.float32 | np.float64
_Kind = TypeVar("_Kind", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Room:
    """For how many slots there has to be room."""

    retained: int
    """Closed slots that are kept."""
    open: int
    """Slots after the newest closed one."""

    @property
    def spare(self) -> int:
        """So many slots grow old before the others move."""
        return max(_LEAST_SPARE_SLOTS, self.retained)

    @property
    def capacity(self) -> int:
        """All slots that there is ever room for."""
        return self.retained + self.open + self.spare


class SlotArray:
    """Values and mask of slots. Positions of metrics and rows are the caller's business."""

    def __init__(self, room: Room, kind: type[Numbers]) -> None:
        self._room = room
        self._kind = kind
        self.metrics = 0
        """Metrics in use; there is room for more."""
        self.rows = 0
        self._first = 0  # the slot at position 0
        self._low = self._high = 0  # positions that hold a slot, the latter excluded
        self._allocate(room.capacity, _LEAST_CAPACITY, ROW_ROOM_MULTIPLE)

    @property
    def held(self) -> range:
        """The slots that hold anything."""
        return range(self._first + self._low, self._first + self._high)

    def widen(self, metrics: int, rows: int) -> None:
        """Make room for so many metrics and rows; new ones were not observed in any slot."""
        before = self.metrics, self.rows
        if (metrics, rows) == before:
            return
        self.metrics, self.rows = metrics, rows
        slots, metric_room, row_room = self._values.shape
        if metrics > metric_room or rows > row_room:
            self._reallocate(slots, before)
        for at in range(self._low, self._high):
            self._values[at, before[0] : metrics, :rows] = np.nan
            self._touched[at, before[1] : rows] = False
            self._unmasked[at] = True

    def slot(self, number: int, keep_from: int) -> tuple[NDArray[Numbers], NDArray[np.bool_]]:
        """The (metric, row) block of a slot and which of its rows were written to, for writing.

        Rows that were not hold anything: whoever writes the first of a row's values blanks the
        others. Slots before `keep_from` may be let go.
        """
        at = number - self._first
        is_there = self._low <= at < self._high and keep_from - self._first < self._room.spare
        if not is_there:
            at = self._begun(number, keep_from)
        self._unmasked[at] = True
        return self._values[at, : self.metrics], self._touched[at]

    def _begun(self, number: int, keep_from: int) -> int:
        """The position of a slot for which there is none yet, or that is to move."""
        is_next = len(self.held) > 0 and number not in self.held
        self._cover(number, number, keep_from)
        at = number - self._first
        if is_next:
            self._fill_up(max(0, self._low - _PAST_AT_ONCE), self._high)
        return at

    def is_touched(self, number: int) -> bool:
        """Whether anything was written to a slot."""
        at = number - self._first
        is_there = self._low <= at < self._high
        return is_there and bool(self._touched[at, : self.rows].any())

    def span(
        self, first: int, last: int, keep_from: int
    ) -> tuple[NDArray[Numbers], NDArray[np.bool_]]:
        """Values and mask (row, metric, slot) of the slots, both included, as read-only views."""
        self._cover(first, last, min(first, keep_from))
        begin, end = first - self._first, last + 1 - self._first
        if np.count_nonzero(unmasked := self._unmasked[begin:end]):
            for at in (np.flatnonzero(unmasked) + begin).tolist():
                self._mask(at)
        part = np.s_[: self.rows, : self.metrics, begin:end]
        return self._shown_values[part], self._shown_observed[part]

    def arrange(self, metrics: Sequence[int], rows: Sequence[int]) -> None:
        """Bring the metrics and rows at these positions into this order; the others are gone."""
        lines, places = np.array(metrics, np.intp), np.array(rows, np.intp)
        for at in range(self._low, self._high):
            if not self._touched[at, : self.rows].any():
                continue  # holes in any order
            chosen = self._values[at].take(places, axis=1)
            self._values[at, : lines.size, : places.size] = chosen[lines]
            self._touched[at, : places.size] = self._touched[at, places]
            self._unmasked[at] = True
        self.metrics, self.rows = len(metrics), len(rows)
        slots, _, row_room = self._values.shape
        if row_room > 2 * _row_capacity(self.rows):
            self._reallocate(slots, (self.metrics, self.rows))

    def clear(self) -> None:
        """Let go of all slots; metrics and rows stay."""
        self._low = self._high = 0

    def fill(self, first: int, values: NDArray[Numbers]) -> None:
        """Take over (slot, metric, row) values, the first of them in this slot."""
        slots, metrics, rows = values.shape
        self.widen(metrics, rows)
        for at in range(slots):
            block, touched = self.slot(first + at, first)
            block[:, :rows] = values[at]
            touched[:rows] = ~np.isnan(values[at]).all(axis=0)

    def copied(self) -> NDArray[Numbers]:
        """A copy of what is held, as (slot, metric, row)."""
        for at in range(self._low, self._high):
            self._mask(at)
        return self._values[self._low : self._high, : self.metrics, : self.rows].copy()

    def _cover(self, first: int, last: int, keep_from: int) -> None:
        """Make sure that these slots, both included, have their place."""
        if self._low == self._high:
            self._first = min(first, keep_from)
            self._low = self._high = first - self._first
        stale = keep_from - self._first
        fits = first >= self._first and last < self._first + len(self._values)
        if stale >= self._room.spare or not fits:
            self._slide(min(first, keep_from), last)
        self._fill_up(first - self._first, last + 1 - self._first)

    def _fill_up(self, begin: int, end: int) -> None:
        """Begin the positions up to these bounds that hold nothing yet."""
        if begin < self._low:
            past, self._low = range(begin, self._low), begin
            self._begin(past)
            for at in past:  # nobody will write to them
                self._mask(at)
        if end > self._high:
            self._begin(range(self._high, end))
            self._high = end

    def _slide(self, first: int, last: int) -> None:
        """Move what is held so that `first` stands at the front; older slots are gone."""
        shift = first - self._first
        low = max(self._low, shift)
        needed = max(self._high, last + 1 - self._first) - shift
        if needed > len(self._values):
            self._reallocate(needed + self._room.spare, (self.metrics, self.rows))
        kept = range(low, self._high)
        part = np.s_[: self.metrics, : self.rows]
        # Slot by slot, in the order in which none is written over before it was moved.
        for at in kept if shift > 0 else reversed(kept):
            for array in (self._values, self._observed):
                array[at - shift][part] = array[at][part]
            self._touched[at - shift] = self._touched[at]
            self._unmasked[at - shift] = self._unmasked[at]
        self._first = first
        self._low, self._high = (low - shift, self._high - shift) if kept else (0, 0)

    def _begin(self, positions: Iterable[int]) -> None:
        """Nothing was written to these positions yet."""
        for at in positions:
            self._touched[at, : self.rows] = False
            self._unmasked[at] = True

    def _mask(self, at: int) -> None:
        """Bring a slot up to date: holes in rows that were not written to, and the mask."""
        touched = self._touched[at, : self.rows]
        values = self._values[at, : self.metrics, : self.rows]
        told = np.count_nonzero(touched)
        if not told:
            values[...] = np.nan
        elif told < touched.size:
            values[:, ~touched] = np.nan
        # Only NaN is not equal to itself.
        np.equal(values, values, out=self._observed[at, : self.metrics, : self.rows])
        self._unmasked[at] = False

    def _reallocate(self, slots: int, held: tuple[int, int]) -> None:
        """Into arrays of another size; `held` are the metrics and rows to take along."""
        before = self._values, self._observed, self._touched, self._unmasked
        self._allocate(slots, _capacity(self.metrics), _row_capacity(self.rows))
        values, observed, touched, unmasked = before
        part = np.s_[self._low : self._high, : held[0], : held[1]]
        self._values[part] = values[part]
        self._observed[part] = observed[part]
        self._touched[part[0], : held[1]] = touched[part[0], : held[1]]
        self._unmasked[part[0]] = unmasked[part[0]]

    def _allocate(self, slots: int, metrics: int, rows: int) -> None:
        self._values = np.empty((slots, metrics, rows), self._kind)
        self._observed = np.empty((slots, metrics, rows), np.bool_)
        self._touched = np.empty((slots, rows), np.bool_)
        self._unmasked = np.ones(slots, np.bool_)
        self._shown_values = _shown(self._values)
        self._shown_observed = _shown(self._observed)


def _capacity(needed: int) -> int:
    return max(_LEAST_CAPACITY, needed + needed // 8)


def _row_capacity(needed: int) -> int:
    return -(-_capacity(needed) // ROW_ROOM_MULTIPLE) * ROW_ROOM_MULTIPLE


def _shown(array: NDArray[_Kind]) -> NDArray[_Kind]:
    """A (row, metric, slot) view that cannot be written through, nor what is taken of it."""
    view = array.transpose(2, 1, 0)
    view.flags.writeable = False
    return view
