"""Rows beside their peers: how far apart each is, in units of the peers' own scatter.

Plain robust statistics over means of the newest and of earlier seconds. A change is compared where
rows keep their differences; a level, where there is too little past to tell a change by, or where
peers are so alike that it says more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.leave_one_out import median_over_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_RARE = 0.9
_OF_MIDDLE, _OF_RARE = 1.4826, 0.6080
"""From the middle and the ninth tenth of distances to a standard deviation, as a normal's are."""
_SURER = 0.5
"""A level that scatters by less than this share of a change is what is compared."""
_FEWEST_SLOTS = 5
_SEEN_SHARE = 0.5
"""A row with fewer of its slots than this share of what is usual is no more than a glimpse: a mean
of other seconds than the peers'."""


@dataclass(frozen=True, slots=True)
class Compared:
    """All rows, metric by metric; NaN where nothing was observed."""

    apart: Floats
    """From the peers' middle, in the metric's own unit."""
    noise: Floats
    """(metrics,): a standard deviation of what is healthy."""

    @classmethod
    def of(cls, amounts: Floats, peers: NDArray[np.bool_], least: Floats) -> Compared:
        """Noise is at least `least`."""
        middle = median(amounts[peers])
        spread = _spread(np.abs(amounts[peers] - middle))
        return cls(amounts - middle, np.fmax(spread, least))

    @classmethod
    def best_of(
        cls, changes: Floats, levels: Floats, peers: NDArray[np.bool_], least: Floats
    ) -> Compared:
        """Of changes, or of levels where these say more."""
        by_change, by_level = (cls.of(one, peers, least) for one in (changes, levels))
        has_change, has_level = (~np.isnan(one[peers]).all(axis=0) for one in (changes, levels))
        is_surer = ~has_change | (by_level.noise < _SURER * by_change.noise)
        takes_level = has_level & is_surer
        return cls(
            np.where(takes_level, by_level.apart, by_change.apart),
            np.where(takes_level, by_level.noise, by_change.noise),
        )


def means(values: NDArray[np.floating]) -> Floats:
    """Over slots, of (rows, metrics, slots); NaN where nothing, or only a glimpse, was seen."""
    found: Floats
    seen = ~np.isnan(values)
    if seen.shape[2] and seen.all():
        found = values.sum(axis=2, dtype=np.float64) / seen.shape[2]
        return found
    total = np.where(seen, values, 0.0).sum(axis=2, dtype=np.float64)
    number = seen.sum(axis=2)
    usual = np.median(number, axis=0) if len(number) else number
    is_enough = (number > 0) & (number >= _SEEN_SHARE * usual)
    found = np.divide(total, number, out=np.full(total.shape, np.nan), where=is_enough)
    return found


def median(values: Floats) -> Floats:
    """Over rows; zero where nothing was seen."""
    if not len(values):
        return np.zeros(values.shape[1])
    middle = median_over_time(np.ascontiguousarray(values.T))
    return np.where(np.isnan(middle), 0.0, middle)


def standard_error(before: Floats, now: Floats) -> Floats:
    """Of the difference of two means over slots, both (metric, slot): by how it scattered before.

    Zero where nothing was observed. Where hardly anything was before, what scatters now counts.
    """
    usual = before if before.shape[1] >= _FEWEST_SLOTS else now
    known = ~np.isnan(usual)
    count = known.sum(axis=1)
    mean = np.where(known, usual, 0.0).sum(axis=1) / np.maximum(count, 1)
    apart = np.where(known, usual - mean[:, None], 0.0)
    variance = np.square(apart).sum(axis=1) / np.maximum(count - 1, 1)
    slots = np.maximum((~np.isnan(now)).sum(axis=1), 1)
    error: Floats = np.sqrt(variance * (1.0 / np.maximum(count, 1) + 1.0 / slots))
    return error


def _spread(distances: Floats) -> Floats:
    """Of the peers' amounts: by the middle of them, or by the tenth that is farthest.

    Traffic and disks come in bursts: most peers hardly change while some do.
    """
    usual, rare = median(distances), np.zeros(distances.shape[1])
    unknown = np.isnan(distances)
    is_whole, is_holed = ~unknown.any(axis=0), unknown.any(axis=0) & ~unknown.all(axis=0)
    if len(distances) and is_whole.any():
        rare[is_whole] = np.quantile(distances[:, is_whole], _RARE, axis=0)
    if is_holed.any():
        rare[is_holed] = np.nanquantile(distances[:, is_holed], _RARE, axis=0)
    spread: Floats = np.fmax(_OF_MIDDLE * usual, _OF_RARE * rare)
    return spread
