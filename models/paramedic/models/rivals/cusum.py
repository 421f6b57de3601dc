"""Floors that add up evidence over time: one-sided sums of robust z, both ways, for each metric.

A machine's own past says what is usual: median and spread of the last ten minutes, without the
newest minute, taken anew every minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.leave_one_out import (
    deviation_over_time,
    leave_one_out_median,
    median_over_time,
)
from paramedic.models.rivals.floor import NothingToLearn
from paramedic.models.rivals.machine_level import mean_of_known
from paramedic.models.rivals.peers import comparable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from paramedic.models.rivals.machine_level import MachineLevel


@dataclass(frozen=True, slots=True)
class CusumSettings:
    """Durations are in slots."""

    allowance: float = 1.0
    """So many spreads a slot are for nothing."""
    largest_z: float = 5.0
    largest_sum: float = 1000.0
    past: int = 600
    gap: int = 60
    refresh: int = 60
    every: int = 5
    """The past is sampled at this distance."""
    fewest: int = 24
    """Samples that a past needs."""
    least_share: float = 0.02
    """The smallest spread, as a share of the usual level."""


class Cusum(NothingToLearn):
    """The largest of all sums of a machine (a Scorer)."""

    def __init__(
        self,
        residual: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        settings: CusumSettings | None = None,
    ) -> None:
        """`residual` is taken of (slots, metrics, nodes) before a machine's past is asked."""
        self._residual = residual
        self.settings = settings or CusumSettings()

    def score(self, level: MachineLevel) -> NDArray[np.float64]:
        """Zero until there is a past."""
        values = level.select(comparable(level.metrics)).transpose(0, 2, 1)
        z = _against_own_past(self._residual(np.ascontiguousarray(values)), self.settings)
        return self._summed(z)

    def _summed(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = np.zeros((z.shape[0], z.shape[2]))
        sums = np.zeros((2, *z.shape[1:]))
        for slot, now in enumerate(np.nan_to_num(z)):
            sums += np.stack([now, -now]) - self.settings.allowance
            np.clip(sums, 0.0, self.settings.largest_sum, out=sums)
            scores[slot] = sums.max(axis=(0, 1), initial=0.0)
        return scores


def as_it_is(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A machine is compared with nothing but its own past."""
    return values


def share_of_peers(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The difference from the other machines' median, as a share of it and of one."""
    if not values.size:
        return values
    peers = leave_one_out_median(values)
    size = np.abs(peers)
    return 1.0 + (values - peers) / np.where(size > 0, size, 1.0)


def _against_own_past(values: NDArray[np.float64], settings: CusumSettings) -> NDArray[np.float64]:
    """Robust z of (slots, metrics, nodes); NaN where there is no past."""
    z = np.full(values.shape, np.nan)
    for start in range(settings.refresh, len(values) if values.size else 0, settings.refresh):
        newest = start - settings.gap
        past = values[max(0, newest - settings.past) : max(0, newest) : settings.every]
        if len(past) < settings.fewest:
            continue
        now = slice(start, start + settings.refresh)
        z[now] = _robust(values[now], past, settings)
    limited: NDArray[np.float64] = np.clip(z, -settings.largest_z, settings.largest_z)
    return limited


def _robust(
    values: NDArray[np.float64], past: NDArray[np.float64], settings: CusumSettings
) -> NDArray[np.float64]:
    by_slot = np.ascontiguousarray(np.moveaxis(past, 0, -1))
    median = median_over_time(by_slot)
    size = np.abs(by_slot - median[..., None])
    spread = deviation_over_time(size)
    # Where more than half of the past is one number, what there was of the rest has to count.
    spread = np.where(spread > 0, spread, np.sqrt(mean_of_known(size**2, axis=-1)))
    spread = np.maximum(spread, settings.least_share * np.abs(median))
    difference = values - median
    endless = np.where(difference == 0, 0.0, np.sign(difference) * settings.largest_z)
    z = np.where(spread > 0, difference / np.where(spread > 0, spread, 1.0), endless)
    enough = np.count_nonzero(~np.isnan(by_slot), axis=-1) >= settings.fewest
    return np.where(enough, z, np.nan)
