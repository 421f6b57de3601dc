"""What the whole job has lost since a moment: in a synchronous job all work less when one is late.

A host that is busy with something else is nobody's problem as long as the job goes on as before. So
what most cards do is followed, and its mean after the moment is compared with that before it, over
whole steps where their length is known. Means over blocks of them tell by how much they differ
anyway.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from paramedic.models.departure.steady import sample
from paramedic.models.leave_one_out import median_of_known

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Window

    Levels = NDArray[np.float64]

_POWER = "gpu_power_watts"
"""Falls little while a card waits: that it is as it was says nothing."""
_WORK = ("gpu_tensor_active_ratio", "gpu_sm_active_ratio", "gpu_dram_active_ratio", _POWER)
"""What shows how much a card does; the first that comes is used."""
_SLOTS_KEPT = 900
_BLOCK_SECONDS = 20
_BEFORE_SECONDS, _FEWEST_BEFORE_SECONDS = 200, 60
_FEWEST_AFTER_SECONDS = 8
_AROUND_SECONDS = 5
"""What is seen around the moment counts neither way."""
_FIRST_SECONDS = 45
"""What began with the moment shows in so many seconds after it."""
_BUSY_SECONDS = 45.0
_PAUSES = 0.7
_PAUSE_SECONDS = 8
_FREE_BLOCKS = 2.6
_SURELY = 3.0
"""Standard errors."""


@dataclass(slots=True)
class JobPace:
    """How much the cards of one job do, slot by slot."""

    _seconds: deque[int] = field(default_factory=lambda: deque(maxlen=_SLOTS_KEPT))
    _levels: deque[float] = field(default_factory=lambda: deque(maxlen=_SLOTS_KEPT))
    _steps: deque[float] = field(default_factory=lambda: deque(maxlen=_SLOTS_KEPT))
    """How long a step took, in seconds; 0 while that was not known."""
    _metric: str = ""
    _shares: dict[int, float | None] = field(default_factory=dict)
    """What has been lost since a moment, as it was asked about the newest slot."""

    def look(self, gpus: Window, step_seconds: float = 0.0) -> None:
        """Take the newest slot in; a step of the job takes so long, 0 while that is not known."""
        self._shares.clear()
        metric = next((one for one in _WORK if one in gpus.metrics), "")
        if metric != self._metric:
            self._seconds.clear()
            self._levels.clear()
            self._steps.clear()
            self._metric = metric
        if not metric:
            return
        at = gpus.metrics.index(metric)
        here = sample(gpus.observed.T[-1, at])
        if 2 * np.count_nonzero(here) >= here.size:
            values = sample(gpus.values.T[-1, at])[here].astype(np.float64)
            self._seconds.append(gpus.last_second)
            self._levels.append(median_of_known(values))
            self._steps.append(step_seconds)

    @property
    def busy_seconds(self) -> float:
        """How long a host has to be busy before it is asked what it costs; infinity: no answer."""
        known = self._seconds[-1] - self._seconds[0] if self._seconds else 0
        answers = self._metric != _POWER and known >= 2 * _FEWEST_BEFORE_SECONDS
        return _BUSY_SECONDS if answers else math.inf

    def lost_share(self, since: int) -> float | None:
        """How much less the job has worked since then; None where that is not known.

        Zero where the difference may be chance, or came later than the moment, and for a job that
        hardly works at all: it pauses, to save its state or to look how good it is.
        """
        if since not in self._shares:
            self._shares[since] = self._lost_share(since)
        return self._shares[since]

    def _lost_share(self, since: int) -> float | None:
        seconds, levels = np.array(self._seconds), np.array(self._levels)
        is_before = seconds < since - _AROUND_SECONDS
        before = levels[is_before & (seconds >= since - _BEFORE_SECONDS)]
        is_after = seconds > since + _AROUND_SECONDS
        after, first = levels[is_after], levels[is_after & (seconds <= since + _FIRST_SECONDS)]
        width = int(np.diff(seconds).min(initial=_BLOCK_SECONDS))
        nothing = None if self._metric == _POWER else 0.0
        if before.size * width < _FEWEST_BEFORE_SECONDS:
            # What was so from the beginning has cost the job nothing since.
            return nothing if after.size * width >= 2 * _FEWEST_BEFORE_SECONDS else None
        if after.size * width < _FEWEST_AFTER_SECONDS:
            return None
        past = self._steps[int(np.flatnonzero(is_before)[-1])] / width
        step = self._steps[-1] / width
        before, after, first = _whole(before, past), _whole(after, step), _whole(first, step)
        usual = float(before.mean())
        if usual <= 0 or not first.size:
            return None
        pause = max(2, _PAUSE_SECONDS // width, math.ceil(step))
        parts = (_without_pauses(part, pause, usual, step) for part in (after, first))
        lost = [1 - float(part.mean()) / usual for part in parts]
        chance = _chance(before / usual, after.size, _block_slots(past, width))
        if not _SURELY * chance <= lost[0] <= _PAUSES or 2 * lost[1] < lost[0]:
            return nothing
        return lost[0]


def _whole(levels: Levels, step_slots: float) -> Levels:
    """The newest of them that make whole steps; all where there is not even one."""
    steps = int(levels.size / step_slots) if step_slots > 0 else 0
    return levels[-round(steps * step_slots) :] if steps else levels


def _block_slots(step_slots: float, width_seconds: int) -> int:
    """So many steps as take as long as a block at least; a step is of one piece."""
    least = max(1, _BLOCK_SECONDS // width_seconds)
    return round(math.ceil(least / step_slots) * step_slots) if step_slots > 0 else least


def _without_pauses(levels: Levels, slots: int, usual: float, step_slots: float) -> Levels:
    """Without stretches of so many slots in which the job hardly worked, and without one that may
    have begun, unless that is all of them. Within a step it may hardly work for as long."""
    low = (1 - _PAUSES) * usual
    kept = np.ones(levels.size, np.bool_)
    if step_slots < slots:
        works = np.flatnonzero(levels >= low)
        kept[int(works[-1]) + 1 if works.size else 0 :] = False
    if levels.size >= slots:
        pauses = sliding_window_view(levels, slots).mean(axis=1) < low
        kept &= np.convolve(pauses, np.ones(slots)) == 0
    return levels[kept] if kept.any() else levels


def _chance(before: Levels, after_slots: int, block_slots: int) -> float:
    """The standard error of the difference of two means, by how much the means of blocks differ.

    Wider where there are few blocks, as Student's distribution is: by a factor that is right for
    three standard errors within a tenth.
    """
    blocks = before.size // block_slots
    if blocks <= _FREE_BLOCKS:
        return 1.0
    means = before[before.size - blocks * block_slots :].reshape(blocks, block_slots).mean(axis=1)
    spread = float(means.std(ddof=1)) * blocks / (blocks - _FREE_BLOCKS)
    return spread * math.sqrt(1 / blocks + block_slots / after_slots)
