"""How far every row is from its role peers in every slot, in standard deviations of such distances.

From a value the median of the row's peers is taken, so that what befalls all alike cancels out;
then what the row has long been different by, or less of it while the job pauses; the rest is
measured by how much rows of the panel usually differ. What is known of the past is brought up to
date a block at a time, from slots that have closed. Nothing depends on the number of rows or on a
metric's unit. Differences are single numbers, however large the values that are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.leave_one_out import deviation_over_time
from paramedic.models.pattern.metric_kinds import Family, family_of
from paramedic.models.pattern.reading import Reader
from paramedic.models.pattern.spread import usual_spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.models.pattern.panels import Panel
    from paramedic.models.pattern.settings import PatternSettings

    Singles = NDArray[np.float32]
    Values = NDArray[np.floating]

_FINEST_SHARE = 0.003
"""Differences below this share of a metric's level are finer than sensors resolve."""
_FINEST = {Family.COUNT: 0.3, Family.GROWTH: 0.3, Family.STATE: 0.25, Family.ABSENCE: 0.5}
"""The smallest standard deviation where a level of zero is usual, on the scale as read."""
_FORGIVEN_SHARE = 0.3
_FORGIVEN_SPREADS = 8.0
"""A steady difference is taken off up to this share of the level, or so many usual ones."""
_TO_DEVIATION_FROM_MEAN = 1 / 0.7979
"""From the mean of absolute deviations to a standard deviation, for normal noise."""
_OF_BLOCK_MEANS = 0.6745 / 0.7979
"""Means of a block's absolute values lie close to their mean, not to their median."""
_LARGEST_GROWTH = 2.0
_LEAST_SCATTER = np.float32(1e-18)
"""So that departures are single numbers before they are cut off as well."""
_STARTLING = 3.0
"""Who is so far out on average over a block teaches little: a fault is not learnt as usual."""
_STARTLED_WEIGHT = 0.05


@dataclass(frozen=True, slots=True)
class Departures:
    """Some slots of a panel."""

    departure: Singles
    """(slots, metrics, rows); NaN where the row or its peers were not observed."""
    activity: Singles
    """(slots, metrics): the level of all rows as a share of the usual one, at most 2."""


class DepartureStream:
    """Departures of one panel, slot after slot or some at once, with the same result."""

    def __init__(self, panel: Panel, settings: PatternSettings) -> None:
        metrics, rows = panel.shape
        self._panel, self._settings = panel, settings
        self._reader = Reader(panel.metrics, rows)
        families = [family_of(one) for one in panel.metrics]
        finest = [_FINEST.get(one, 0.0) for one in families]
        self._finest = np.array(finest, np.float32)[:, None]
        self._states = np.flatnonzero([one is Family.STATE for one in families])
        has_past = [one not in _FINEST for one in families]
        self._has_past = np.array(has_past)[:, None]
        self._steady = np.zeros((metrics, rows), np.float32)
        self._seen = np.zeros((metrics, rows), np.float32)
        self._scatter = np.zeros((metrics, 1), np.float32)
        self._own_scatter = np.zeros((metrics, rows), np.float32)
        self._size = np.zeros((metrics, 1), np.float32)
        self._scale = np.zeros((metrics, rows), np.float32)
        """By what a difference is multiplied; little while little is known."""
        self._block = _Block(metrics, rows)

    def advance(self, values: Values) -> Departures:
        """Take in slots, (slots, metrics but absence, rows), NaN where nothing was observed."""
        read = self._reader.read(values)
        if len(read) <= self._settings.block_slots - self._block.slots:
            return self._within_block(read)
        found = []
        while len(read):
            room = self._settings.block_slots - self._block.slots
            found.append(self._within_block(read[:room]))
            read = read[room:]
        return Departures(
            np.concatenate([one.departure for one in found]),
            np.concatenate([one.activity for one in found]),
        )

    def _within_block(self, read: Values) -> Departures:
        slots, metrics, rows = read.shape
        flat = read.reshape(slots * metrics, rows)
        level = self._panel.circles.median_of_others(flat).reshape(read.shape)
        difference = np.subtract(read, level).astype(np.float32, copy=False)
        if self._states.size:
            difference[:, self._states] = np.sign(difference[:, self._states])
        middle = _middle(level)
        activity = self._activity(middle)
        rest = self._steady * np.minimum(activity, 1)[:, :, None]
        np.subtract(difference, rest, out=rest)
        departure = rest * self._scale
        limit = np.float32(self._settings.largest_departure)
        np.maximum(departure, -limit, out=departure)
        np.minimum(departure, limit, out=departure)
        self._block.take(difference, np.abs(rest, out=rest), middle)
        if self._block.slots == self._settings.block_slots:
            self._learn(self._block)
            self._block = _Block(metrics, rows)
        return Departures(departure, activity)

    def _activity(self, middle: Singles) -> Singles:
        size = self._size[:, 0]
        share = np.abs(middle) / np.where(size > 0, size, np.float32(1))
        is_known = (size > 0) & ~np.isnan(share)
        activity: Singles = np.where(is_known, np.minimum(share, 2), np.float32(1))
        return activity

    def _scatter_now(self) -> Singles:
        finest = np.maximum(self._finest, _FINEST_SHARE * self._size)
        usual = np.maximum(self._scatter, finest)
        scatter: Singles = np.maximum(usual, self._own_scatter)
        return scatter

    def _learn(self, block: _Block) -> None:
        """Bring the past up to date with a block that has closed."""
        count = np.maximum(block.known, 1).astype(np.float32)
        is_known = block.known > 0
        mean, away = block.difference / count, block.away / count
        weight = self._weight_of_rows(mean)
        self._learn_steady(mean, weight, is_known)
        self._learn_scatter(np.where(is_known, away, np.float32(np.nan)))
        if self._settings.use_own_past:
            own = away * np.float32(_TO_DEVIATION_FROM_MEAN) - self._own_scatter
            self._own_scatter += np.where(is_known, weight * own, np.float32(0))
        level = block.level[:, None] / np.float32(block.slots)
        self._size = _followed(self._size, level, self._weight())
        self._seen += is_known
        self._scale = self._scale_now()

    def _scale_now(self) -> Singles:
        scatter = self._scatter_now()
        trust = np.minimum(self._seen / self._settings.trust_blocks, 1)
        scale: Singles = np.where(scatter > 0, trust / np.maximum(scatter, _LEAST_SCATTER), 0)
        return scale

    def _weight(self) -> float:
        seen = float(self._seen.max(initial=0.0)) + 1
        return 1 / min(seen, self._settings.memory_blocks)

    def _weight_of_rows(self, mean: Singles) -> Singles:
        """How much a block teaches of each row: less of one that is far from where it was."""
        trusted = self._seen >= self._settings.trust_blocks
        startled = trusted & (np.abs(mean - self._steady) > _STARTLING * self._scatter_now())
        weight = 1 / np.minimum(self._seen + 1, self._settings.memory_blocks)
        taught: Singles = np.where(startled, _STARTLED_WEIGHT * weight, weight).astype(np.float32)
        return taught

    def _learn_steady(self, mean: Singles, weight: Singles, is_known: NDArray[np.bool_]) -> None:
        if not self._settings.use_own_past:
            return
        moved = self._steady + weight * (mean - self._steady)
        usual = deviation_over_time(moved)[:, None]
        limit = np.maximum(_FORGIVEN_SHARE * self._size, _FORGIVEN_SPREADS * usual)
        limit = np.where(self._size > 0, limit, np.float32(np.inf))
        kept = np.minimum(np.maximum(moved, -limit), limit)
        self._steady = np.where(is_known & self._has_past, kept, self._steady)

    def _learn_scatter(self, away: Singles) -> None:
        usual = usual_spread(away) * _OF_BLOCK_MEANS
        usual = np.where(np.isnan(usual), self._scatter, usual)
        known = self._scatter > 0
        believed = np.where(known, np.minimum(usual, _LARGEST_GROWTH * self._scatter), usual)
        self._scatter = _followed(self._scatter, believed, self._weight())


class _Block:
    """Sums over the slots of a block, added slot by slot however they are handed over."""

    def __init__(self, metrics: int, rows: int) -> None:
        self.slots = 0
        self.known = np.zeros((metrics, rows), np.int32)
        self.difference = np.zeros((metrics, rows), np.float32)
        self.away = np.zeros((metrics, rows), np.float32)
        """Distances from what is steady."""
        self.level = np.zeros(metrics, np.float32)

    def take(self, difference: Singles, away: Singles, middle: Singles) -> None:
        """Add slots, (slots, metrics, rows) and, for the middle, (slots, metrics); fills holes."""
        self.slots += len(difference)
        unknown = np.isnan(difference)
        if unknown.any():
            np.copyto(difference, 0, where=unknown)
            np.copyto(away, 0, where=unknown)
            self.known -= np.count_nonzero(unknown, axis=0).astype(np.int32)
        self.known += len(difference)
        for now, distance in zip(difference, away, strict=True):
            self.difference += now
            self.away += distance
        for level in np.where(np.isnan(middle), 0, np.abs(middle)):
            self.level += level


def _middle(level: Values) -> Singles:
    """The median over rows that have peers; NaN where there is none."""
    ordered = np.sort(level, axis=-1)
    if not np.isnan(ordered[..., -1:]).any():
        return ordered[..., (level.shape[-1] - 1) // 2].astype(np.float32)
    count = np.count_nonzero(~np.isnan(level), axis=-1, keepdims=True)
    at = np.take_along_axis(ordered, np.maximum(count - 1, 0) // 2, axis=-1)
    return np.where(count > 0, at, np.nan)[..., 0].astype(np.float32)


def _followed(before: Singles, now: Singles, weight: float) -> Singles:
    """A running mean that begins with the first number that is not zero."""
    moved: Singles = np.where(before > 0, before + weight * (now - before), now)
    return moved
