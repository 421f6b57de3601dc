"""Continuity: a machine is declared when it was the candidate of enough windows in a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.minder.alignment import WINDOW

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from paramedic.models.minder.candidates import Candidates, Sightings

NOBODY = -1


@dataclass(slots=True)
class TrackWatch:
    """Follows one track through pulls that come in the order of time."""

    candidates: Candidates
    threshold: float
    needed: int
    """So many windows in a row."""
    reach: int
    """So many slots a pull looks back."""
    _machines: NDArray[np.int64] = field(init=False)
    """The candidate of each window as the newest pull sees it."""
    _length: NDArray[np.int64] = field(init=False)
    """For how many windows up to this one it has been the candidate."""
    _closed: int = field(init=False, default=0)
    _revised: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._machines = _above(self.candidates.first, self.threshold)
        self._length = np.zeros_like(self._machines)

    @property
    def is_hopeless(self) -> bool:
        """Whether no machine is the candidate often enough to be ever declared."""
        ever = _above(self.candidates.revised, self.threshold)
        named = np.concatenate([self._machines, ever])
        named = named[named != NOBODY]
        return not named.size or int(np.bincount(named).max()) < self.needed

    def pull(self, slot: int) -> int:
        """The window that completes the earliest run in the pull at this slot, or NOBODY."""
        self._take_in(slot)
        earliest = max(0, slot - self.reach + 1) + self.needed - 1
        ripe = self._length[earliest : self._closed] >= self.needed
        at = int(ripe.argmax()) if ripe.size else 0
        return earliest + at if ripe.size and ripe[at] else NOBODY

    def machine(self, window: int) -> int:
        """The candidate of a window as the newest pull saw it."""
        return int(self._machines[window])

    def _take_in(self, slot: int) -> None:
        """Windows that have closed since the last pull, and what has become known of others."""
        changed = self._closed
        self._closed = min(max(self._closed, slot - WINDOW + 2), len(self._machines))
        revised = self.candidates.revised
        until = int(np.searchsorted(revised.pulls, slot, side="right"))
        if until > self._revised:
            new = slice(self._revised, until)
            # Of two sightings of one window the later stands last and counts.
            self._machines[revised.windows[new]] = _above(revised, self.threshold)[new]
            changed = min(changed, int(revised.windows[new].min()))
            self._revised = until
        self._count_from(changed)

    def _count_from(self, window: int) -> None:
        machines = self._machines[window : self._closed]
        if not machines.size:
            return
        number = np.arange(1, len(machines) + 1)
        goes_on = np.zeros(len(machines), np.bool_)
        goes_on[1:] = machines[1:] == machines[:-1]
        goes_on[0] = window > 0 and machines[0] == self._machines[window - 1]
        base = self._length[window - 1] if goes_on[0] else 0
        start = np.maximum.accumulate(np.where(goes_on, -base, number - 1))
        self._length[window : self._closed] = np.where(machines == NOBODY, 0, number - start)


def _above(sightings: Sightings, threshold: float) -> NDArray[np.int64]:
    return np.where(sightings.z > threshold, sightings.machines, NOBODY)


def declared(tracks: Iterable[TrackWatch], slot: int) -> tuple[int, float] | None:
    """The machine that the first track that has one declares at this pull, with its z."""
    for track in tracks:
        window = track.pull(slot)
        if window != NOBODY:
            return track.machine(window), float(track.candidates.first.z[window])
    return None
