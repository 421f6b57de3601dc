"""The last departures of every row, from which windows for the network are cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.floating]
    Singles = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Windows:
    """Sequences for the network, one a row and metric; every array has the slots last."""

    departure: Singles
    """(sequences, slots), bent by asinh; 0 where not observed."""
    observed: Singles
    """(sequences, slots): 1 or 0."""
    activity: Singles
    """(sequences, slots)."""
    metric: NDArray[np.int64]
    """(sequences,): position of the metric in its panel."""

    def __len__(self) -> int:
        return len(self.metric)

    def at(self, positions: NDArray[np.intp]) -> Windows:
        """Those at some positions."""
        return Windows(
            self.departure[positions],
            self.observed[positions],
            self.activity[positions],
            self.metric[positions],
        )

    @classmethod
    def joined(cls, parts: list[Windows]) -> Windows:
        """All sequences of some, one after the other; there must be at least one part."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([one.departure for one in parts]),
            np.concatenate([one.observed for one in parts]),
            np.concatenate([one.activity for one in parts]),
            np.concatenate([one.metric for one in parts]),
        )


class RecentSlots:
    """A ring that is written twice, so that any window lies in it in one piece."""

    def __init__(self, slots: int, metrics: int, rows: int, at_once: int = 1) -> None:
        """`slots`: of a window; `at_once`: slots that are taken in together at most."""
        self._slots, self._rows = slots, rows
        self._ring = slots + at_once - 1
        self._departure = np.full((2 * self._ring, metrics * rows), np.nan, np.float32)
        self._activity = np.ones((2 * self._ring, metrics), np.float32)
        self._next = 0

    def push(self, departure: Numbers, activity: Numbers) -> None:
        """Take in a slot: (metrics, rows) and (metrics,)."""
        self.extend(departure[None], activity[None])

    def extend(self, departure: Numbers, activity: Numbers) -> None:
        """Take in slots: (slots, metrics, rows) and (slots, metrics)."""
        bent = np.arcsinh(departure.astype(np.float32, copy=False)).reshape(len(departure), -1)
        at = (self._next + np.arange(len(bent))) % self._ring
        for places in (at, at + self._ring):
            self._departure[places] = bent
            self._activity[places] = activity
        self._next = (self._next + len(bent)) % self._ring

    def windows(
        self,
        metric: NDArray[np.int64],
        row: NDArray[np.int64],
        ago: NDArray[np.int64] | None = None,
    ) -> Windows:
        """The last slots of some cells, by their metrics' and rows' positions.

        `ago`: as they were so many slots ago, fewer than are taken in together; by default now.
        """
        cut = self._cut(self._departure, metric * self._rows + row, ago)
        activity = self._cut(self._activity, metric, ago)
        unknown = np.isnan(cut)
        np.copyto(cut, 0, where=unknown)
        return Windows(cut.T, (~unknown).astype(np.float32).T, activity.T, metric)

    def _cut(
        self, ring: Singles, column: NDArray[np.int64], ago: NDArray[np.int64] | None
    ) -> Singles:
        """(slots, sequences), each from a column of the ring."""
        if ago is None:
            first = (self._next - self._slots) % self._ring
            now: Singles = np.take(ring[first : first + self._slots], column, axis=1)
            return now
        begin = (self._next - self._slots - ago) % self._ring * ring.shape[1] + column
        then: Singles = np.take(ring, begin + (np.arange(self._slots) * ring.shape[1])[:, None])
        return then
