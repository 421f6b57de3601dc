"""What each server should show, given what the others show: relations learnt from the past.

A server is steadily a little different from its peers, and follows some of them more closely than
others. Both are learnt as robust straight lines from a long past; what is left is its residual. Two
yardsticks are used, for each has its weakness: the line on the median of the others, which no odd
peer moves, and the weighted median of the lines on each single other server, which knows who goes
with whom.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.leave_one_out import TO_STANDARD_DEVIATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

_HUBER = 1.5
_ROUNDS = 8
_FEWEST_SLOTS = 8
_MOST_SLOTS = 3000
"""A line needs no more points."""


@dataclass(frozen=True, slots=True)
class Line:
    """A robust straight line, and how far points lie off it."""

    slope: float
    offset: float
    scatter: float

    def at(self, values: Values) -> Values:
        """What the line says."""
        return self.slope * values + self.offset


@dataclass(frozen=True, slots=True)
class Yardsticks:
    """The lines of all servers and metrics."""

    on_median: tuple[tuple[Line, ...], ...]
    """By server and metric."""
    on_each: tuple[tuple[tuple[Line, ...], ...], ...]
    """By server and metric, a line on each other server."""

    def residuals(self, values: Values) -> Values:
        """(yardstick, server, metric, slot) from values (server, metric, slot)."""
        found = np.empty((2, *values.shape))
        middles = _medians_of_others(values)
        for server, metric in np.ndindex(values.shape[:2]):
            own = values[server, metric]
            others = np.delete(values[:, metric], server, axis=0)
            lines = self.on_each[server][metric]
            by_median = self.on_median[server][metric].at(middles[server, metric])
            found[0, server, metric] = own - by_median
            found[1, server, metric] = own - _weighted_median(lines, others)
        return found


def learn(values: Values, resolution: float) -> Yardsticks:
    """The yardsticks of a past, (server, metric, slot); NaN where nothing is known.

    `resolution`: no relation is known more exactly than the values are.
    """
    step = -(-values.shape[2] // _MOST_SLOTS)
    thinned = values[:, :, ::step]
    middles = _medians_of_others(thinned)
    servers, metrics = range(values.shape[0]), range(values.shape[1])
    on_median = tuple(
        tuple(robust_line(middles[s, m], thinned[s, m], resolution) for m in metrics)
        for s in servers
    )
    on_each = tuple(
        tuple(
            tuple(
                robust_line(thinned[other, m], thinned[s, m], resolution)
                for other in servers
                if other != s
            )
            for m in metrics
        )
        for s in servers
    )
    return Yardsticks(on_median, on_each)


def robust_line(along: Values, of: Values, resolution: float) -> Line:
    """The line of one series on another, by Huber's weights.

    Where too little is known, or the other never moves, it is level.
    """
    known = ~(np.isnan(along) | np.isnan(of))
    x, y = along[known], of[known]
    if x.size < _FEWEST_SLOTS:
        return Line(0.0, float("nan"), float("inf"))
    weights, slope, offset, scatter = np.ones(x.size), 0.0, 0.0, resolution
    for _ in range(_ROUNDS):
        slope, offset = _weighted_line(x, y, weights, resolution)
        off = np.abs(y - slope * x - offset)
        scatter = max(TO_STANDARD_DEVIATION * float(np.median(off)), resolution / 5)
        weights = np.minimum(1.0, _HUBER * scatter / np.maximum(off, 1e-12))
    return Line(slope, offset, scatter)


def _weighted_line(x: Values, y: Values, weights: Values, resolution: float) -> tuple[float, float]:
    total = weights.sum()
    mean_x, mean_y = (weights @ x) / total, (weights @ y) / total
    spread = weights @ (x - mean_x) ** 2 / total
    slope = float(weights @ ((x - mean_x) * (y - mean_y)) / total / (spread + resolution**2 / 12))
    return slope, float(mean_y - slope * mean_x)


def _medians_of_others(values: Values) -> Values:
    """Of each server the median of the others, in every slot; NaN where there are none."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice")
        return np.stack(
            [np.nanmedian(np.delete(values, s, axis=0), axis=0) for s in range(values.shape[0])]
        )


def _weighted_median(lines: tuple[Line, ...], others: Values) -> Values:
    """The middle of what the lines say, (slot); exact relations weigh more."""
    said = np.stack([line.at(other) for line, other in zip(lines, others, strict=True)])
    own_weights = np.array([line.scatter**-2.0 for line in lines])[:, None]
    weights = np.where(np.isnan(said), 0.0, own_weights)
    order = np.argsort(said, axis=0)
    ranked = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    middle = np.argmax(ranked >= ranked[-1] / 2, axis=0)
    ordered = np.take_along_axis(said, order, axis=0)
    found: Values = np.take_along_axis(ordered, middle[None], axis=0)[0]
    return found
