"""Floors that compare machines with each other at one time: plain and robust z."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.catalogue.catalogue import shipped_catalogue
from paramedic.ingest.catalogue.metric import Kind
from paramedic.models.leave_one_out import deviation_over_time, median_over_time
from paramedic.models.rivals.floor import NothingToLearn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from paramedic.models.rivals.machine_level import MachineLevel

_LEAST_SHARE = 0.01
"""The smallest spread, as a share of the machines' median."""
_LEAST_OF_USUAL = 0.25
"""The smallest spread, as a share of the usual one."""
_LARGEST = 50.0
_FEWEST = 3


def comparable(metrics: tuple[str, ...]) -> tuple[str, ...]:
    """Those whose size means something: no codes, no running totals."""
    catalogue = shipped_catalogue().metrics
    return tuple(
        metric
        for metric in metrics
        if not metric.endswith("_total")
        and (metric not in catalogue or catalogue[metric].kind is not Kind.STATE)
    )


def plain_z(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(steps, nodes, metrics) against mean and standard deviation over the nodes, NaN left out."""
    known = ~np.isnan(values)
    count = np.maximum(np.count_nonzero(known, axis=1, keepdims=True), 1)
    centred = values - np.where(known, values, 0.0).sum(axis=1, keepdims=True) / count
    spread = np.sqrt(np.where(known, centred**2, 0.0).sum(axis=1, keepdims=True) / count)
    z: NDArray[np.float64] = np.where(spread > 0, centred / np.where(spread > 0, spread, 1.0), 0.0)
    return np.where(known, z, np.nan)


class LargestZ(NothingToLearn):
    """The largest |z| over all metrics."""

    def score(self, level: MachineLevel) -> NDArray[np.float64]:
        """Never above √(nodes − 1)."""
        return largest(np.abs(plain_z(level.select(comparable(level.metrics)))))


class PeerResiduals:
    """Robust z of every metric among the machines; a quiet metric has a floor under its spread."""

    def __init__(self) -> None:
        self._usual: dict[str, float] = {}

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those that training has seen."""
        return tuple(self._usual)

    def learn(self, levels: Iterable[MachineLevel]) -> None:
        """The usual spread of each metric: the mean of |difference from the median|."""
        sums: dict[str, tuple[float, int]] = {}
        for level in levels:
            metrics = comparable(level.metrics)
            for metric, size in zip(metrics, _sizes(level.select(metrics)), strict=True):
                total, count = sums.get(metric, (0.0, 0))
                sums[metric] = (total + float(size.sum()), count + size.size)
        self._usual = {metric: total / max(count, 1) for metric, (total, count) in sums.items()}

    def of(self, level: MachineLevel) -> NDArray[np.float64]:
        """(steps, nodes, metrics) in the order of training, or of the level if there was none."""
        metrics = self.metrics or comparable(level.metrics)
        usual = np.array([self._usual.get(metric, 0.0) for metric in metrics])
        return robust_z(level.select(metrics), _LEAST_OF_USUAL * usual)


def robust_z(values: NDArray[np.float64], floor: NDArray[np.float64]) -> NDArray[np.float64]:
    """(steps, nodes, metrics) against median and MAD over the nodes, cut off both ways."""
    if values.shape[-1] == 0:
        return values
    by_node = np.ascontiguousarray(values.transpose(0, 2, 1))
    median = median_over_time(by_node)[..., None]
    difference = by_node - median
    spread = deviation_over_time(difference)[..., None]
    spread = np.maximum(spread, np.maximum(_LEAST_SHARE * np.abs(median), floor[:, None]))
    enough = np.count_nonzero(~np.isnan(by_node), axis=-1, keepdims=True) >= _FEWEST
    boundless = np.abs(difference) >= spread * _LARGEST
    limit = np.where(difference == 0, 0.0, np.sign(difference) * _LARGEST)
    z = np.where(boundless, limit, difference / np.where(spread > 0, spread, 1.0))
    return np.where(enough, z, np.nan).transpose(0, 2, 1)


class MedianAndMad:
    """The largest robust |z| over all metrics."""

    def __init__(self) -> None:
        self._residuals = PeerResiduals()

    def learn(self, levels: Iterable[MachineLevel]) -> None:
        """The usual spread of each metric."""
        self._residuals.learn(levels)

    def score(self, level: MachineLevel) -> NDArray[np.float64]:
        """At most 50."""
        return largest(np.abs(self._residuals.of(level)))


def largest(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Over the last axis, NaN left out; NaN where nothing is known."""
    blank = np.full((*values.shape[:-1], 1), np.nan)
    top: NDArray[np.float64] = np.fmax.reduce(np.concatenate([values, blank], axis=-1), axis=-1)
    return top


def _sizes(values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """For each metric the known |differences| from the machines' median."""
    by_node = np.ascontiguousarray(values.transpose(2, 0, 1))
    size = np.abs(by_node - median_over_time(by_node)[..., None]) if by_node.size else by_node
    return [one[~np.isnan(one)] for one in size]
