"""How long a step takes, by the rhythm of what the GPUs do.

A stall of one step is over with the step: everybody meets again at its end. So what a machine
shows for less than two steps may be one late batch, however many seconds that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.departure.character import characters_of, telling
from paramedic.models.leave_one_out import median_over_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Window

_FEWEST_SLOTS = 30
_ENOUGH_ROWS = 32
_LEAST_SWING = 0.2
"""A level that moves by less of itself has no rhythm."""
_LEAST_LIKENESS = 0.4
"""A rhythm is one when the level is so much like itself a period later (correlation)."""


def step_seconds(window: Window) -> float | None:
    """The period of the job's activity; None where there is none that the slots can show."""
    if window.values.shape[2] < _FEWEST_SLOTS or not window.rows:
        return None
    found = [_period(level) for level in _levels(window)]
    known = [one for one in found if one is not None]
    return None if not known else float(np.median(known)) * window.slot_seconds


def _levels(window: Window) -> NDArray[np.float64]:
    """The level of each metric of work over time, (metric, slot), of those that move."""
    kept = telling(window.metrics)
    works = characters_of(tuple(window.metrics[at] for at in kept)).work
    metrics = [at for at, is_work in zip(kept, works, strict=True) if is_work]
    some = slice(None, None, max(1, len(window.rows) // _ENOUGH_ROWS))
    values = window.values[some][:, metrics].astype(np.float64)
    values[~window.observed[some][:, metrics]] = np.nan
    level = median_over_time(np.moveaxis(values, 0, -1))
    level = level[~np.isnan(level).any(axis=1)]
    is_moving = level.std(axis=1) > _LEAST_SWING * np.abs(level.mean(axis=1))
    moving: NDArray[np.float64] = level[is_moving]
    return moving


def _period(level: NDArray[np.float64]) -> int | None:
    """The first lag at which the level is like itself again, in slots."""
    slots = level.size
    centred = level - level.mean()
    products = np.correlate(centred, centred, "full")[slots - 1 :]
    lags = np.arange(1, slots // 2 + 1)
    likeness = products[lags] / products[0] * slots / (slots - lags)
    return _first_peak(likeness)


def _first_peak(likeness: NDArray[np.float64]) -> int | None:
    """The first local maximum that is nearly as high as any."""
    highest = float(np.nanmax(likeness[1:-1], initial=-1.0))
    if highest < _LEAST_LIKENESS:
        return None
    inner = likeness[1:-1]
    is_peak = (inner >= likeness[:-2]) & (inner > likeness[2:]) & (inner >= 0.5 * highest)
    lags = np.flatnonzero(is_peak)
    return int(lags[0]) + 2 if lags.size else None
