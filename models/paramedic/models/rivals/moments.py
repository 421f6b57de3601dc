"""Mahalanobis distance of the moments of each machine's window, among the machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.rivals.peers import robust_z

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from paramedic.models.rivals.machine_level import MachineLevel

METRICS = (
    "pfc_tx_packets_per_second",
    "cpu_utilization_ratio",
    "gpu_utilization_ratio",
    "gpu_power_watts",
    "gpu_tensor_active_ratio",
    "gpu_graphics_active_ratio",
    "gpu_nvlink_tx_bytes_per_second",
)
_FEATURES = 4 * len(METRICS)
_LARGEST = 20.0
_ROWS_A_HISTORY = 2000
_TRIMMED_SHARE = 0.1
_ROUNDS = 3
_RIDGE = 0.05
_LEAST_SPREAD = 0.02


class MomentsDistance:
    """Robust Mahalanobis distance of mean, deviation, skewness and kurtosis (a Scorer).

    Moments are compared with the machines' median; the covariance is that of training histories,
    without the tenth of rows that lies farthest out.
    """

    def __init__(self, window_slots: int = 12) -> None:
        """The window counts steps of the floor that it is used in."""
        self._slots = window_slots
        self._scale = np.ones(len(METRICS))
        self._inverse: NDArray[np.float64] = np.eye(_FEATURES)

    def learn(self, levels: Iterable[MachineLevel]) -> None:
        """How large each metric is, and how its moments go together."""
        kept = list(levels)
        self._scale = _typical([level.select(METRICS) for level in kept])
        rows = [self._features(level).reshape(-1, _FEATURES) for level in kept]
        spread = [one[:: 1 + len(one) // _ROWS_A_HISTORY] for one in rows]
        if spread and sum(map(len, spread)) > _FEATURES:
            self._inverse = _inverted(_trimmed_covariance(np.concatenate(spread)))

    def score(self, level: MachineLevel) -> NDArray[np.float64]:
        """The distance of the newest window."""
        features = self._features(level)
        squares = np.einsum("snf,snf->sn", features @ self._inverse, features)
        distance: NDArray[np.float64] = np.sqrt(np.maximum(squares, 0.0))
        return distance

    def _features(self, level: MachineLevel) -> NDArray[np.float64]:
        moments = window_moments(level.select(METRICS) / self._scale, self._slots)
        z = robust_z(moments, np.full(_FEATURES, _LEAST_SPREAD))
        return np.clip(np.nan_to_num(z), -_LARGEST, _LARGEST)


def window_moments(values: NDArray[np.float64], slots: int) -> NDArray[np.float64]:
    """(steps, nodes, 4 × metrics): mean, deviation, skewness, kurtosis of the last slots."""
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    count = _sums(known.astype(np.float64), slots)
    first, second, third, fourth = (
        _sums(filled**power, slots) / np.maximum(count, 1.0) for power in (1, 2, 3, 4)
    )
    variance = np.maximum(second - first**2, 0.0)
    skew = third - 3 * first * second + 2 * first**3
    tails = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
    # Where a metric hardly moves, its shape says nothing.
    deviation = np.sqrt(variance)
    safe = np.maximum(deviation, _LEAST_SPREAD)
    moments = np.concatenate([first, deviation, skew / safe**3, tails / safe**4], axis=-1)
    return np.where(np.tile(count, 4) > 0, moments, np.nan)


def _sums(values: NDArray[np.float64], slots: int) -> NDArray[np.float64]:
    """Over the last slots of each step; at the beginning over those that there are."""
    total = np.cumsum(values, axis=0)
    total[slots:] = total[slots:] - total[:-slots]
    return total


def _typical(values: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The mean size of each metric; one where it is always zero."""
    size, count = np.zeros(len(METRICS)), np.zeros(len(METRICS))
    for one in values:
        size += np.nansum(np.abs(one), axis=(0, 1))
        count += np.count_nonzero(~np.isnan(one), axis=(0, 1))
    mean = size / np.maximum(count, 1.0)
    return np.where(mean > 0, mean, 1.0)


def _trimmed_covariance(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the rows that are not far out, which are found anew a few times."""
    kept = rows
    for _ in range(_ROUNDS):
        covariance: NDArray[np.float64] = np.cov(kept, rowvar=False) + _RIDGE * np.eye(_FEATURES)
        distance = np.einsum("rf,rf->r", rows @ _inverted(covariance), rows)
        kept = rows[distance <= np.quantile(distance, 1.0 - _TRIMMED_SHARE)]
    return covariance


def _inverted(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    inverse: NDArray[np.float64] = np.linalg.inv(matrix).astype(np.float64)
    return inverse
