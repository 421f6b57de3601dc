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
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Window

_LARGEST_SHARE = 1e6
"""Where the peers stand at zero, any difference is boundless; this keeps it a number."""


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
    """A spread or a steady difference needs so many observed slots."""
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
        if self.recent_slots < 0 or self.fewest_slots < 1:
            raise ValueError(
                f"recent_slots ({self.recent_slots}) must be 0 or more and"
                f" fewest_slots ({self.fewest_slots}) 1 or more"
            )

    def build(self) -> PeerDeviation:
        """The model with these settings. It keeps no state."""
        return PeerDeviation(self)


class PeerDeviation:
    """Scores the newest slot of a window against the peers (a PatternModel)."""

    name = "peer_deviation"

    def __init__(self, config: PeerDeviationConfig) -> None:
        self.config = config

    def score(self, window: Window) -> AnomalyScores:
        """Deviations of the newest slot; NaN where the row or its peers were not observed."""
        usable = window.observed & np.isfinite(window.values)
        # Rows last: the medians over rows then run along contiguous memory.
        known = np.where(usable, window.values, np.nan).transpose(1, 2, 0)
        values = np.ascontiguousarray(known, np.float64)
        level = leave_one_out_median(values)
        shares = self._without_steady_part(_share_of_level(values, level))
        deviation = shares[:, -1] / self._scale(shares)
        return AnomalyScores(
            second=window.last_second,
            rows=window.rows,
            metrics=window.metrics,
            deviation=np.clip(deviation, -self.config.limit, self.config.limit).T,
            value=values[:, -1].T,
            peers=level[:, -1].T,
        )

    def _without_steady_part(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Takes off what a row has long been different by, within the forgiven share."""
        older = shares[:, : max(0, shares.shape[1] - self.config.recent_slots)]
        if older.shape[1] < self.config.fewest_slots:
            return shares
        steady = self._median_of_enough(older)
        forgiven = np.clip(steady, -self.config.forgiven_share, self.config.forgiven_share)
        return shares - np.nan_to_num(forgiven)[:, None, :]

    def _scale(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The usual spread of the other rows, or their spread in this very slot if that is wider.

        The latter keeps a second in which everything is in turmoil from accusing anybody; it is
        bounded, so that two slow rows among four do not hide each other.
        """
        usual = leave_one_out_median(self._median_of_enough(np.abs(shares)))
        now: NDArray[np.float64] = leave_one_out_median(np.abs(shares[:, -1]))
        floor = self.config.floor_share / TO_STANDARD_DEVIATION
        usual = np.maximum(usual, floor)
        widened = np.minimum(np.nan_to_num(now), usual * self.config.largest_widening)
        return TO_STANDARD_DEVIATION * np.maximum(usual, widened)

    def _median_of_enough(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Median over the slots, per metric and row; NaN where too few slots were observed."""
        by_row = np.ascontiguousarray(shares.transpose(0, 2, 1))
        enough = np.count_nonzero(~np.isnan(by_row), axis=-1) >= self.config.fewest_slots
        return np.where(enough, median_over_time(by_row), np.nan)


def _share_of_level(values: NDArray[np.float64], level: NDArray[np.float64]) -> NDArray[np.float64]:
    """The residual as a share of the peers' level now, or of their mean level if that is higher."""
    size = np.abs(level)
    known = np.count_nonzero(~np.isnan(size), axis=1, keepdims=True)
    mean = np.nansum(size, axis=1, keepdims=True) / np.maximum(known, 1)
    yardstick = np.maximum(size, mean)
    residual = values - level
    boundless = np.abs(residual) >= yardstick * _LARGEST_SHARE
    shares = residual / np.where(boundless, 1.0, yardstick)
    at_the_limit = np.where(residual == 0, 0.0, np.sign(residual) * _LARGEST_SHARE)
    return np.where(boundless, at_the_limit, shares)
