"""Alignment of samples: a missing one takes the value of the nearest time that a pull has seen.

A pull at slot T knows nothing of later samples. A gap that is still open at T is filled with the
value before it; once the next sample is there, the half of the gap that is nearer to it takes that
one. A window therefore has the values of its own closing, and for some windows there are later
pulls that see other values: `revisions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WINDOW = 8
"""Samples of a window."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """Values of (slots, nodes, metrics) as pulls see them."""

    before: NDArray[np.float32]
    """The newest value up to each slot; NaN where there is none yet."""
    nearest: NDArray[np.float32]
    """The value of the nearest time, whenever that is."""
    known_from: NDArray[np.int64]
    """The slot from which on a pull sees `nearest` and no longer `before`."""

    @classmethod
    def of(cls, values: NDArray[np.float32]) -> Aligned:
        """Of values with NaN where nothing was observed."""
        slots = len(values)
        number = np.arange(slots).reshape(-1, 1, 1)
        seen = ~np.isnan(values)
        left = np.maximum.accumulate(np.where(seen, number, -1), axis=0)
        right = np.where(seen, number, slots)
        right = np.minimum.accumulate(right[::-1], axis=0)[::-1]
        # Of two that are equally near the earlier counts.
        is_right = (right < slots) & ((left < 0) | (right - number < number - left))
        before = _at(values, left)
        nearest = np.where(is_right, _at(values, np.minimum(right, slots - 1)), before)
        known_from = np.where(is_right, right, number).astype(np.int64)
        return cls(before, nearest, known_from)

    @property
    def windows(self) -> int:
        """How many windows there are; window w ends with slot w + 7."""
        return max(0, len(self.before) - WINDOW + 1)

    def first_sight(self, start: int, stop: int) -> NDArray[np.float32]:
        """(windows, nodes, metrics, 8) as a pull sees them in the slot that closes them."""
        windows = np.arange(start, stop)
        return self.seen_at(windows, windows + WINDOW - 1)

    def seen_at(self, windows: NDArray[np.int64], pulls: NDArray[np.int64]) -> NDArray[np.float32]:
        """(windows, nodes, metrics, 8) as pulls at these slots see these windows."""
        slots = windows[:, None] + np.arange(WINDOW)
        is_known = self.known_from[slots] <= pulls.reshape(-1, 1, 1, 1)
        seen = np.where(is_known, self.nearest[slots], self.before[slots])
        return np.ascontiguousarray(seen.transpose(0, 2, 3, 1))

    def revisions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Windows, and the later pulls from which on they have other values; by pull, window."""
        slots = np.arange(len(self.before))
        pairs: set[tuple[int, int]] = set()
        changed = self.known_from > slots.reshape(-1, 1, 1)
        for slot in np.flatnonzero(changed.any(axis=(1, 2))):
            for pull in np.unique(self.known_from[slot][changed[slot]]):
                last = min(int(slot), int(pull) - WINDOW)
                first = max(0, int(slot) - WINDOW + 1)
                pairs.update((int(pull), window) for window in range(first, last + 1))
        ordered = sorted(pairs)
        pulls, windows = (np.array([pair[i] for pair in ordered], np.int64) for i in (0, 1))
        return windows, pulls


def _at(values: NDArray[np.float32], slots: NDArray[np.int64]) -> NDArray[np.float32]:
    return np.take_along_axis(values, np.maximum(slots, 0), axis=0)
