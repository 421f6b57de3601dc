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

    @classmethod
    def joined(cls, parts: list[Windows]) -> Windows:
        """All sequences of some, one after the other; there must be at least one part."""
        return cls(
            np.concatenate([one.departure for one in parts]),
            np.concatenate([one.observed for one in parts]),
            np.concatenate([one.activity for one in parts]),
            np.concatenate([one.metric for one in parts]),
        )


class RecentSlots:
    """A ring that is written twice, so that any window lies in it in one piece."""

    def __init__(self, slots: int, metrics: int, rows: int) -> None:
        self._slots = slots
        self._departure = np.full((2 * slots, metrics, rows), np.nan, np.float32)
        self._activity = np.ones((2 * slots, metrics), np.float32)
        self._next = 0

    def push(self, departure: Numbers, activity: Numbers) -> None:
        """Take in a slot: (metrics, rows) and (metrics,)."""
        for at in (self._next, self._next + self._slots):
            self._departure[at] = departure
            self._activity[at] = activity
        self._next = (self._next + 1) % self._slots

    def windows(self, metric: NDArray[np.int64], row: NDArray[np.int64]) -> Windows:
        """The last slots of some cells, by their metrics' and rows' positions."""
        here = slice(self._next, self._next + self._slots)
        cut = np.ascontiguousarray(self._departure[here][:, metric, row].T)
        observed = (~np.isnan(cut)).astype(np.float32)
        activity = np.ascontiguousarray(self._activity[here][:, metric].T)
        return Windows(np.arcsinh(np.nan_to_num(cut)), observed, activity, metric)
