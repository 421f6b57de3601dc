"""Whether a machine is odd only because its clock is some seconds off.

A job's rows rise and fall together with its steps. A machine whose samples carry a time a few
seconds early or late looks odd in everything at every rise and fall, and fits as soon as it is
moved: what a shift explains is no departure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.leave_one_out import median_over_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Window

    Cells = NDArray[np.float64]

_FARTHEST_SECONDS = 8
_FEWEST_SLOTS = 6
_WIDEST_SLOT_SECONDS = 5
_LEAST_SWING = 0.2
"""A metric whose level moves by less than this share of itself tells no time."""
_EXPLAINED = 0.55
"""A shift explains a difference when it leaves less than this share of it."""


def is_shifted(window: Window, row: int, peers: list[int], metrics: list[int], since: int) -> bool:
    """Whether what the row shows in these metrics since then fits its peers when moved in time."""
    width = window.slot_seconds
    if width > _WIDEST_SLOT_SECONDS or len(peers) < 2:
        return False
    farthest = max(1, _FARTHEST_SECONDS // width)
    held = window.values.shape[2]
    shown = min((window.last_second - since) // width + 1, held - 2 * farthest)
    shown = max(_FEWEST_SLOTS, shown)
    slots = min(shown + 2 * farthest, held)
    if not metrics or slots < shown + farthest:
        return False
    values = _part(window, [row, *peers], metrics, slots)
    own, level = values[0], median_over_time(np.moveaxis(values[1:], 0, -1))
    swing = _swing(level)
    telling_time = np.isfinite(swing) & (swing > _LEAST_SWING * np.abs(median_over_time(level)))
    if not telling_time.any():
        return False
    own, level = (one[telling_time] / swing[telling_time, None] for one in (own, level))
    apart = np.abs(own - level)
    shifts = range(-farthest, farthest + 1)
    return any(_explains(own, level, apart, shift, shown) for shift in shifts if shift)


def _explains(own: Cells, level: Cells, apart: Cells, shift: int, shown: int) -> bool:
    """Whether much less is left of the newest differences when the row is moved by the shift.

    Above zero: the row shows what its peers show so many slots later.
    """
    last = own.shape[1] - max(shift, 0)
    first = max(own.shape[1] - shown, -shift, 0)
    if last - first < _FEWEST_SLOTS:
        first = max(last - _FEWEST_SLOTS, -shift, 0)
    still = _mean(apart[:, first:last])
    moved = _mean(np.abs(own[:, first:last] - level[:, first + shift : last + shift]))
    return bool(moved < _EXPLAINED * still)


def _swing(level: Cells) -> Cells:
    """By how much each metric's level moves, (metric,); NaN where it is not known."""
    unknown = np.isnan(level)
    high = np.max(np.where(unknown, -np.inf, level), axis=1)
    low = np.min(np.where(unknown, np.inf, level), axis=1)
    swing: Cells = np.where(high > low, high - low, np.nan)
    return swing


def _part(window: Window, rows: list[int], metrics: list[int], slots: int) -> Cells:
    """(row, metric, slot) of the newest slots; NaN where not observed."""
    chosen = np.ix_(rows, metrics, range(-slots, 0))
    values = window.values[chosen].astype(np.float64)
    values[~window.observed[chosen]] = np.nan
    return values


def _mean(apart: Cells) -> float:
    """Of the differences that are known; infinite where nothing can be compared."""
    known = apart[~np.isnan(apart)]
    return float(known.mean()) if known.size else np.inf
