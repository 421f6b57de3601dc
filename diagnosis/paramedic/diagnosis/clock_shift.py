"""Whether a machine is odd only because its clock is some seconds off.

A job's rows rise and fall together with its steps. A machine whose samples carry a time a few
seconds early or late looks odd in everything at every rise and fall, and fits as soon as it is
moved: what a shift explains is no departure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.departure.character import characters_of, telling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Window

    Cells = NDArray[np.float64]

_FARTHEST_SECONDS = 8
_SLOTS = 40
_WIDEST_SLOT_SECONDS = 5
_LEAST_SWING = 0.2
"""A metric whose level moves by less than this share of itself tells no time."""
_EXPLAINED = 0.55
"""A shift explains a difference when it leaves less than this share of it."""


def is_shifted(window: Window, row: int, peers: list[int]) -> bool:
    """Whether the row's newest slots fit its peers better when they are moved in time."""
    farthest = max(1, _FARTHEST_SECONDS // window.slot_seconds)
    kept = list(telling(window.metrics))
    if window.slot_seconds > _WIDEST_SLOT_SECONDS or not kept or len(peers) < 2:
        return False
    work = characters_of(tuple(window.metrics[at] for at in kept)).work
    metrics = [at for at, is_work in zip(kept, work, strict=True) if is_work]
    values = _part(window, [row, *peers], metrics)
    if values.shape[2] < 3 * farthest or not metrics:
        return False
    own, level = values[0], _middle(values[1:])
    own = own - _steady(own - level)
    swing = np.nanmax(level, axis=1, initial=-np.inf, where=~np.isnan(level)) - np.nanmin(
        level, axis=1, initial=np.inf, where=~np.isnan(level)
    )
    size = np.abs(_middle(level.T[:, :, None])[:, 0]) if level.size else np.zeros(0)
    telling_time = np.isfinite(swing) & (swing > _LEAST_SWING * size) & (swing > 0)
    if np.count_nonzero(telling_time) < 2:
        return False
    own, level = (
        own[telling_time] / swing[telling_time, None],
        level[telling_time] / (swing[telling_time, None]),
    )
    left = {shift: _left(own, level, shift, farthest) for shift in range(-farthest, farthest + 1)}
    still = left.pop(0)
    return bool(np.isfinite(still)) and min(left.values()) < _EXPLAINED * still


def _part(window: Window, rows: list[int], metrics: list[int]) -> Cells:
    """(row, metric, slot) of the newest slots; NaN where not observed."""
    values = window.values[rows][:, metrics, -_SLOTS:].astype(np.float64)
    values[~window.observed[rows][:, metrics, -_SLOTS:]] = np.nan
    return values


def _middle(values: Cells) -> Cells:
    """The median over the first axis, NaN left out; NaN where nothing is known."""
    ordered = np.sort(values, axis=0)
    count = np.count_nonzero(~np.isnan(values), axis=0)[None]
    low = np.take_along_axis(ordered, np.maximum((count - 1) // 2, 0), axis=0)
    high = np.take_along_axis(ordered, np.minimum(count // 2, len(values) - 1), axis=0)
    middle: Cells = np.where(count > 0, (low + high) / 2, np.nan)[0]
    return middle


def _steady(difference: Cells) -> Cells:
    """What each metric is different by most of the time, (metric, 1)."""
    return np.nan_to_num(_middle(difference.T))[:, None]


def _left(own: Cells, level: Cells, shift: int, farthest: int) -> float:
    """The mean difference that is left after a shift; infinite where nothing can be compared."""
    slots = own.shape[1]
    moved = own[:, farthest + shift : slots - farthest + shift]
    apart = np.abs(moved - level[:, farthest : slots - farthest])
    known = ~np.isnan(apart)
    return float(apart[known].mean()) if known.any() else np.inf
