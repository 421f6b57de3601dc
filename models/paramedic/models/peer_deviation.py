"""Robust deviation from the peers: how far a row is from the median of all the other rows.

Everything is a share of the peers' level, so that a metric's unit and the pace of the whole job
cancel out. The row that is judged takes no part in its own yardstick: neither in the level nor in
the scale. A lone outlier therefore scores the same among 4 machines as among 1,500.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.contract import AnomalyScores
from paramedic.models.leave_one_out import (
    TO_STANDARD_DEVIATION,
    leave_one_out_median,
    median_over_time,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from paramedic.ingest.contract import Entity, Window

    Cells = NDArray[np.float64]

_LARGEST_SHARE = 1e6
"""Where the peers stand at zero, any difference is boundless; this keeps it a number."""
_SMALLEST = float(np.finfo(np.float64).tiny)
_APART = 8


@dataclass(frozen=True, slots=True)
class PeerDeviationConfig:
    """Settings of the model; `build` makes it."""

    floor_share: float = 0.05
    """The smallest scale, as a share of the peers' level, so that quiet metrics do not explode."""
    forgiven_share: float = 0.15
    """A steady difference of the row is taken off, up to this share of the peers' level."""
    recent_slots: int = 20
    """The newest slots take no part in the steady difference: a fresh fault is not steady."""
    fewest_slots: int = 8
    """A usual spread needs so many observed slots."""
    first_slots: int = 4
    """From so many on rows are scored where a job has just begun: see `PeerDeviation`."""
    steady_slots: int = 3
    """A steady difference needs so many: where steps are long, a window holds only a few."""
    largest_widening: float = 3.0
    """A slot in turmoil widens the scale to at most so many times the usual spread."""
    limit: float = 50.0
    """Deviations are cut off here, both ways."""

    def __post_init__(self) -> None:
        if self.floor_share <= 0:
            raise ValueError(f"floor_share must be above 0, not {self.floor_share}")
        if not 0 <= self.forgiven_share < 1:
            raise ValueError(f"forgiven_share must be in 0..1, not {self.forgiven_share}")
        if self.largest_widening < 1:
            raise ValueError(f"largest_widening must be 1 or more, not {self.largest_widening}")
        if self.recent_slots < 0 or not 1 <= self.first_slots <= self.fewest_slots:
            raise ValueError(
                f"recent_slots ({self.recent_slots}) must be 0 or more and first_slots"
                f" ({self.first_slots}) between 1 and fewest_slots ({self.fewest_slots})"
            )

    def build(self) -> PeerDeviation:
        """The model with these settings."""
        return PeerDeviation(self)


@dataclass(frozen=True, slots=True)
class _Levels:
    """The values of a window's slots and the peers' level of each, (slot, metric, row).

    Slots in which nothing was observed are left out.
    """

    numbers: NDArray[np.int64]
    """Of the slots, on the grid of the job; ascending."""
    values: Cells
    levels: Cells


class PeerDeviation:
    """Scores the newest slot of a window against the peers (a PatternModel).

    Where all that is known is a few slots of lately, the widest stands for a row's usual spread,
    and all that could be a steady difference is taken off.

    It keeps the levels of the last window of each kind, of which the next one has most slots; what
    they are does not depend on what is kept.
    """

    name = "peer_deviation"

    def __init__(self, config: PeerDeviationConfig) -> None:
        self.config = config
        self._last: dict[Entity, _Levels] = {}

    def score(
        self,
        window: Window,
        unscored: Collection[str] = (),
        own: NDArray[np.float64] | None = None,
    ) -> AnomalyScores:
        """Deviations of the newest slot; NaN where the row or its peers were not observed.

        NaN as well for what need not be scored. Of whom it is known what it differs by all along
        (`own`), nothing is learned.
        """
        newest = _values(window, np.array([-1]))
        level = np.full_like(newest, np.nan)
        deviation, steady = np.full_like(newest[-1], np.nan), np.zeros_like(newest[-1])
        if not np.isnan(newest).all():
            known = self._levels(window)
            level = known.levels[-1:]
            scored = np.flatnonzero([name not in unscored for name in window.metrics])
            if not np.isnan(level).all():
                last = window.last_second // window.slot_seconds
                recent = last - self.config.recent_slots
                told = None if own is None else own.T[scored]
                deviation[scored], steady[scored] = self._deviation(known, scored, recent, told)
        return AnomalyScores(
            second=window.last_second,
            rows=window.rows,
            metrics=window.metrics,
            deviation=deviation.T,
            value=newest[-1].T,
            peers=level[-1].T,
            own=steady.T,
        )

    def _levels(self, window: Window) -> _Levels:
        """What has not changed since the last window keeps its level."""
        observed = np.flatnonzero(window.observed.T.any(axis=(1, 2)))
        numbers = observed + window.first_second // window.slot_seconds
        values = _values(window, observed)
        levels, is_new = np.empty_like(values), np.ones(len(values), np.bool_)
        last = self._last.get(window.entity)
        if last is not None and last.values.shape[1:] == values.shape[1:]:
            _, *places = np.intersect1d(
                numbers, last.numbers, assume_unique=True, return_indices=True
            )
            here, there = map(_stretch, places)
            levels[here] = last.levels[there]
            # As whole numbers, by which NaN is equal to itself.
            is_other = last.values[there].view(np.int64) != values[here].view(np.int64)
            is_new[here] = is_other.any(axis=(1, 2))
        levels[is_new] = leave_one_out_median(values[is_new])
        known = self._last[window.entity] = _Levels(numbers, values, levels)
        return known

    def _deviation(
        self, known: _Levels, metrics: NDArray[np.intp], recent: int, own: Cells | None
    ) -> tuple[Cells, Cells]:
        """Of these metrics in the newest slot, in which there is something, (metric, row); and the
        steady difference, which is none.

        The recent slots are those after this one.
        """
        told = np.flatnonzero(~np.isnan(known.levels).all(axis=(1, 2)))
        slots = _stretch(told)
        values, levels = (all_[slots][:, metrics] for all_ in (known.values, known.levels))
        shares = _shares_of_level(values, levels)
        older = np.searchsorted(known.numbers[told], recent, side="right")
        steady = np.zeros(shares.shape[:2])
        if older >= self.config.steady_slots:
            steady = self._forgiven(shares[..., :older])
        if own is not None:
            steady = np.where(np.isnan(own), steady, own)
        if steady.any():
            shares -= steady[..., None]
        newest, sizes = shares[..., -1], np.abs(shares)
        if self._has_just_begun(known.numbers[told]):
            newest = newest - self._at_most_forgiven(newest)
            usual = self._widest(sizes)
        else:
            usual = _median_of_enough(sizes, self.config.fewest_slots)
        deviation: Cells = newest / self._scale(usual, sizes[..., -1])
        return np.clip(deviation, -self.config.limit, self.config.limit), steady

    def _has_just_begun(self, numbers: NDArray[np.int64]) -> bool:
        """Whether these slots are few because the job has not been compared for longer.

        Slots that are few because steps are long say nothing before there are enough.
        """
        enough = self.config.fewest_slots
        return numbers.size < enough and int(numbers[-1] - numbers[0]) < 2 * enough

    def _forgiven(self, older: Cells) -> Cells:
        """What a row has long been different by, up to a limit."""
        steady = _median_of_enough(older, self.config.steady_slots)
        return self._at_most_forgiven(np.where(np.isnan(steady), 0.0, steady))

    def _at_most_forgiven(self, shares: Cells) -> Cells:
        most = self.config.forgiven_share
        return np.clip(shares, -most, most)

    def _scale(self, usual: Cells, now: Cells) -> Cells:
        """The usual spread of the other rows, or their spread in this very slot if that is wider.

        The latter keeps a second in which everything is in turmoil from accusing anybody; it is
        bounded, so that two slow rows among four do not hide each other.
        """
        usual, now = leave_one_out_median(np.stack((usual, now)))
        floor = self.config.floor_share / TO_STANDARD_DEVIATION
        usual = np.maximum(usual, floor)
        now = np.where(np.isnan(now), 0.0, now)
        widened = np.minimum(now, usual * self.config.largest_widening)
        scale: Cells = TO_STANDARD_DEVIATION * np.maximum(usual, widened)
        return scale

    def _widest(self, by_row: Cells) -> Cells:
        """The largest over the slots, per metric and row; NaN where there are too few for that."""
        is_known = _known(by_row, axis=-1) >= self.config.first_slots
        return np.where(is_known, np.fmax.reduce(by_row, axis=-1), np.nan)


def _median_of_enough(by_row: Cells, fewest: int) -> Cells:
    """Median over the slots, per metric and row; NaN where fewer slots than these were observed."""
    return np.where(_known(by_row, axis=-1) >= fewest, median_over_time(by_row), np.nan)


def _values(window: Window, slots: NDArray[np.intp]) -> Cells:
    """(slot, metric, row), as they lie in memory; NaN where nothing usable was observed."""
    values = window.values.T[slots].astype(np.float64, order="C", copy=False)
    there = np.isfinite(values) & window.observed.T[slots]
    if not there.all():
        values[~there] = np.nan
    return values


def _stretch(ascending: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """The same positions as a slice, which copies nothing, where they are neighbours."""
    if ascending.size and ascending[-1] - ascending[0] == ascending.size - 1:
        return slice(int(ascending[0]), int(ascending[-1]) + 1)
    return ascending


def _known(numbers: Cells, axis: int) -> NDArray[np.intp] | int:
    """How many along the axis are there; mostly all are, which is quickly seen."""
    unknown, count = np.isnan(numbers), int(numbers.shape[axis])
    if not unknown.any():
        return count
    known: NDArray[np.intp] = count - np.count_nonzero(unknown, axis=axis)
    return known


def _shares_of_level(values: Cells, level: Cells) -> Cells:
    """The residual as a share of the peers' level now, or of their mean level if that is higher.

    From (slot, metric, row) to (metric, row, slot).
    """
    size = np.abs(level)
    known = _known(size, axis=0)
    total = size.sum(axis=0) if isinstance(known, int) else np.nansum(size, axis=0)
    mean = np.maximum(total / np.maximum(known, 1), _SMALLEST)
    yardstick = np.maximum(size, mean, out=size)
    slots, metrics, rows = values.shape
    # With lines that are a power of two apart, all of a row's slots would share one cache line.
    shares = np.empty((slots, metrics, rows + _APART))[..., :rows]
    with np.errstate(over="ignore"):  # where the peers stand at zero
        np.divide(np.subtract(values, level, out=shares), yardstick, out=shares)
    np.clip(shares, -_LARGEST_SHARE, _LARGEST_SHARE, out=shares)
    return np.ascontiguousarray(shares.transpose(1, 2, 0))
