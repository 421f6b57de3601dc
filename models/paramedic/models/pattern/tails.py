"""Calibrated tails: what share of healthy training looked at least this odd, in nats (-log p).

A statistic is bent by asinh onto an even grid; each metric has a row of nats on that grid, learnt
by counting. Beyond what was ever seen the tail goes on as it ended. A metric that was not trained
on is read by the table of its kind, and a kind that was not by that of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.floating]
    Table = NDArray[np.float32]

GRID = 129
"""Points of a table; the middle one stands for zero."""
_REACH = 5.0
"""asinh of the largest statistic that is told apart: 74."""
_MIDDLE = (GRID - 1) / 2
_FEWEST = 200.0
"""A table that was learnt from fewer numbers is not used."""
_STEEPEST_BINS = 8
"""The tail is drawn out at the slope that it had over so many points before its end."""


def positions(statistic: Numbers) -> Numbers:
    """Where numbers stand on the grid."""
    at: Numbers = np.arcsinh(statistic)
    np.multiply(at, _MIDDLE / _REACH, out=at)
    np.add(at, _MIDDLE, out=at)
    np.maximum(at, 0, out=at)
    np.minimum(at, GRID - 1, out=at)
    return at


class TailCounter:
    """Counts how often a statistic came out how large, by line (a metric, a kind)."""

    def __init__(self, lines: int) -> None:
        self.counts = np.zeros((lines, GRID))

    @property
    def are_enough(self) -> NDArray[np.bool_]:
        """By line: whether so many were counted that it has a table of its own."""
        enough: NDArray[np.bool_] = self.counts.sum(axis=1) >= _FEWEST
        return enough

    def count(self, lines: NDArray[np.intp], statistic: Numbers) -> None:
        """Count numbers, each in its line; NaN is not counted."""
        lines, statistic = np.broadcast_arrays(lines, statistic)
        known = ~np.isnan(statistic)
        at = np.rint(positions(statistic[known])).astype(np.intp)
        flat = np.bincount(lines[known] * GRID + at, minlength=self.counts.size)
        self.counts += flat.reshape(self.counts.shape)


def tables(counts: NDArray[np.float64], most: float, *, is_two_sided: bool) -> Table:
    """Nats at each point of the grid, (…, grid), from how often it was met; zero where too rarely.

    Two-sided: departures below are as odd as their own tail says, and one of two tails is chosen.
    """
    upper = _one_tail(counts, most)
    if not is_two_sided:
        return upper.astype(np.float32)
    lower = _one_tail(counts[..., ::-1], most)[..., ::-1]
    both: Table = np.maximum(np.maximum(upper, lower) - np.log(2), 0.0).astype(np.float32)
    return both


def _one_tail(counts: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    total = counts.sum(axis=-1, keepdims=True)
    beyond = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]
    nats = np.log(np.maximum(total, 1)) - np.log(np.maximum(beyond, 0.5))
    last = GRID - 1 - np.argmax(counts[..., ::-1] > 0, axis=-1)[..., None]
    before = np.maximum(last - _STEEPEST_BINS, 0)
    at_end = np.take_along_axis(nats, last, axis=-1)
    slope = (at_end - np.take_along_axis(nats, before, axis=-1)) / _STEEPEST_BINS
    point = np.arange(GRID)
    drawn = np.where(point > last, at_end + np.maximum(slope, 0.05) * (point - last), nats)
    enough = total >= _FEWEST
    kept: NDArray[np.float64] = np.where(enough, np.minimum(drawn, most), 0.0)
    return kept


@dataclass(frozen=True)
class Tails:
    """Tables of a panel's metrics, in the order of its metrics."""

    table: Table
    """(metrics, grid)."""

    def nats(self, statistic: Numbers) -> Table:
        """(…, metrics, rows) to the same; 0 where nothing is known."""
        return self.nats_of_lines(np.arange(len(self.table))[:, None], statistic)

    def nats_of_lines(self, lines: NDArray[np.integer], statistic: Numbers) -> Table:
        """Each number by the table of its line; 0 where nothing is known."""
        at = positions(statistic)
        unknown = np.isnan(at)
        is_holed = bool(unknown.any())
        if is_holed:
            np.copyto(at, _MIDDLE, where=unknown)
        low = np.floor(at)
        np.subtract(at, low, out=at)
        # Still as real numbers, which are quicker, and exact up to 2**24.
        place = np.add(low, lines * GRID, out=low, casting="same_kind").astype(np.intp)
        found: Table = np.take(self._rise, place, mode="clip")
        np.multiply(found, at, out=found, casting="same_kind")
        np.add(found, np.take(self.table, place, mode="clip"), out=found)
        if is_holed:
            np.copyto(found, 0, where=unknown)
        return found

    @cached_property
    def _rise(self) -> Table:
        """From each point of the grid to the next."""
        return np.diff(self.table, axis=1, append=self.table[:, -1:])


def normal_table(most: float) -> Table:
    """The table of a standard normal, both tails: what is believed without calibration."""
    bent = np.abs(np.linspace(-_REACH, _REACH, GRID))
    size = np.sinh(bent)
    # Mills' ratio, close enough: a belief without data needs no more.
    log_tail = size**2 / 2 + np.log(1 + size * np.sqrt(np.pi / 2))
    nats: Table = np.minimum(log_tail, most).astype(np.float32)
    return nats
