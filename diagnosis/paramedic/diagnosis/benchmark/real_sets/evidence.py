"""How unusual a stretch of residuals is, by how often its like was seen in the past.

For each server and metric the root mean square of the residuals over a stretch, and of their steps
from slot to slot, is compared with all stretches of that length in the past. What goes beyond the
past is judged by an exponential tail. Evidence is the negative logarithm of that share; over
metrics the squares add up, so that one metric that was never so off outweighs many that are a
little off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.benchmark.real_sets.yardsticks import Yardsticks, learn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

_TAIL_SHARE = 0.02
"""The largest values of the past, from which the tail is drawn."""


@dataclass(frozen=True, slots=True)
class Tails:
    """What the past showed, sorted along the first axis; NaN (unknown) last."""

    ordered: Values
    resolution: float

    def evidence(self, values: Values) -> Values:
        """Minus the logarithm of the share of the past that is at least so large.

        `values` has the shape of an entry of the past, or more axes before it.
        """
        known = np.count_nonzero(~np.isnan(self.ordered), axis=0)
        at = np.minimum((known * (1 - _TAIL_SHARE)).astype(np.intp), np.maximum(known - 1, 0))
        limit = np.take_along_axis(self.ordered, at[None], axis=0)[0]
        beyond = np.where(self.ordered >= limit, self.ordered - limit, np.nan)
        size = np.nansum(beyond, axis=0) / np.maximum(known - at, 1)
        tail = (values - limit) / np.maximum(size, self.resolution) - np.log(_TAIL_SHARE)
        found = np.where(values > limit, tail, self._within(values, known))
        return np.where(np.isnan(values), np.nan, found)

    def _within(self, values: Values, known: NDArray[np.intp]) -> Values:
        flat = values.reshape(-1, int(np.prod(known.shape)))
        past = self.ordered.reshape(len(self.ordered), -1)
        below = np.stack(
            [np.searchsorted(past[:, k], flat[:, k]) for k in range(past.shape[1])], axis=1
        ).reshape(values.shape)
        share: Values = (np.maximum(known - below, 0) + 1) / (known + 1)
        return -np.log(share)


class ServerEvidence:
    """Learns from an unlabelled past; says how unusual each server is in a stretch."""

    def __init__(self, past: Values, resolution: float) -> None:
        """`past`: (server, metric, slot)."""
        self._resolution = resolution
        self._yardsticks: Yardsticks = learn(past, resolution)
        self._past = _squares(self._yardsticks.residuals(past))
        self._tails: dict[int, Tails] = {}

    def of_stretch(self, values: Values, first: int, end: int) -> Values:
        """The score of each server over these slots of (server, metric, slot)."""
        reach = slice(max(0, first - 1), end)
        squares = _squares(self._yardsticks.residuals(values[:, :, reach]))[..., first - end :]
        return _added(self._tails_of(end - first).evidence(np.sqrt(squares.mean(axis=-1))))

    def of_trailing(self, values: Values, length: int) -> Values:
        """(server, slot): the score over the last slots, so many, that end in each slot."""
        squares = _squares(self._yardsticks.residuals(values))
        stretches = np.moveaxis(np.sqrt(_means(squares, length)), -1, 0)
        scores = np.full((values.shape[0], values.shape[2]), np.nan)
        scores[:, length - 1 :] = _added(self._tails_of(length).evidence(stretches)).T
        return scores

    def past_trailing(self, length: int) -> Values:
        """(server, slot): the same over the past itself, as far as it is known."""
        stretches = np.moveaxis(np.sqrt(_means(self._past, length)), -1, 0)
        return _added(self._tails_of(length).evidence(stretches)).T

    def _tails_of(self, length: int) -> Tails:
        known = self._tails.get(length)
        if known is None:
            means = _means(self._past, length)[..., :: max(1, length // 4)]
            ordered = np.sort(np.moveaxis(np.sqrt(means), -1, 0), axis=0)
            known = self._tails[length] = Tails(ordered, self._resolution)
        return known


def _squares(residuals: Values) -> Values:
    """Of residuals and of their steps, (level or step, yardstick, server, metric, slot)."""
    steps = np.diff(residuals, axis=-1, prepend=residuals[..., :1])
    return np.stack([residuals, steps]) ** 2


def _means(squares: Values, length: int) -> Values:
    """Over all stretches of so many slots; NaN where one of them is unknown."""
    unknown = np.isnan(squares)
    sums = _running(np.where(unknown, 0.0, squares), length)
    return np.where(_running(unknown.astype(np.float64), length) > 0, np.nan, sums / length)


def _running(values: Values, length: int) -> Values:
    sums: Values = np.cumsum(values, axis=-1)
    rest = np.concatenate([np.zeros_like(sums[..., :1]), sums[..., :-length]], axis=-1)
    kept: Values = np.maximum(sums[..., length - 1 :] - rest, 0.0)
    return kept


def _added(evidence: Values) -> Values:
    """Over levels and steps, yardsticks and metrics; servers stay, and what lies before.

    NaN where nothing is known of a server.
    """
    by_server = np.moveaxis(evidence, -2, -4).reshape(*evidence.shape[:-4], evidence.shape[-2], -1)
    known = ~np.isnan(by_server).all(axis=-1)
    kept: Values = np.sqrt(np.nansum(by_server**2, axis=-1))
    scores: Values = np.where(known, kept, np.nan)
    return scores
