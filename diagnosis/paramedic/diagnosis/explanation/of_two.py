"""What one of two nodes shows and the other does not, and why it hardly adds up.

How odd a row is, is read from how its peers scatter. In a job of two nodes half of the rows are the
other node's: what all rows of one show lies within that scatter, however clear it is to people.
Which of the two has changed only their own past can say, so that is told beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paramedic.diagnosis.excuses import Hold
from paramedic.diagnosis.explanation.measures import measure_of
from paramedic.diagnosis.materiality import LEAST_SHARE
from paramedic.diagnosis.symptoms import SYMPTOMS
from paramedic.ingest.contract import Entity
from paramedic.models.departure.character import OF_OTHERS, character_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName, Window

    Values = NDArray[np.float64]

_ROWS = {Entity.GPU: "cards", Entity.RANK: "ranks"}
"""A node has one host, and no two hosts are alike: who is odd among them peers never say."""
_SURELY = 3.0
"""Standard errors that the means of the two are apart, on either side."""
_MOST = 2
"""Metrics that are told."""
_PARTS = 4
"""The window's first and last such part are compared with each other."""


class _Side(NamedTuple):
    """The rows of one node in one metric, (rows, slots); NaN where nothing was observed."""

    values: Values

    def means(self) -> tuple[Values, Values]:
        """Of each row lately, and how sure that is."""
        lately = self.values[:, self.values.shape[1] // 2 :]
        slots = (~np.isnan(lately)).sum(axis=1)
        means = np.nansum(lately, axis=1) / np.maximum(slots, 1)
        apart = np.where(np.isnan(lately), 0.0, lately - means[:, None])
        return means, np.sqrt(np.square(apart).sum(axis=1)) / np.maximum(slots, 1)

    def moved(self) -> float:
        """By which share its last part is above its first; 0 where nobody can tell."""
        width = max(1, self.values.shape[1] // _PARTS)
        parts = (self.values[:, :width], self.values[:, -width:])
        if any(np.isnan(part).all() for part in parts):
            return 0.0
        before, now = (float(np.nanmean(part)) for part in parts)
        return round(now / before - 1.0, 2) + 0.0 if before else 0.0  # never -0 %


def between_two(node: NodeName, windows: Mapping[Entity, Window]) -> Iterator[Hold]:
    """Of a job of two nodes: what all rows of this one show and none of the other, as a trouble."""
    found = [
        one
        for entity, window in windows.items()
        if entity in _ROWS and len({row.node for row in window.rows}) == 2
        for metric in window.metrics
        if (worse := _worse(entity, metric)) and (one := _apart(node, metric, window, worse))
    ]
    found.sort(key=lambda one: -one[0])
    yield from (hold for _, hold in found[:_MOST])


def _worse(entity: Entity, metric: str) -> int:
    """In which direction it is a trouble of whoever shows it; 0: in none by itself."""
    if entity is Entity.RANK:
        return next((round(one.worse) for one in SYMPTOMS if one.metric == metric), 0)
    known = character_of(metric)
    if known is None or known.about in OF_OTHERS or known.takes_increments:
        return 0
    return int(known.only_rises) - int(known.only_falls)


def _apart(node: NodeName, metric: str, window: Window, worse: int) -> tuple[float, Hold] | None:
    """By which share of the other it differs, and the words."""
    at = window.metrics.index(metric)
    values = np.where(window.observed[:, at], window.values[:, at].astype(np.float64), np.nan)
    mine = np.array([row.node == node for row in window.rows])
    seen = ~np.isnan(values).all(axis=1)
    own, other = _Side(values[mine & seen]), _Side(values[~mine & seen])
    if not len(own.values) or not len(other.values):
        return None
    (own_means, own_errors), (means, errors) = own.means(), other.means()
    near, far = worse * own_means - _SURELY * own_errors, worse * means + _SURELY * errors
    value, against = float(np.median(own_means)), float(np.median(means))
    share = abs(value - against) / max(abs(value), abs(against), 1e-12)
    if near.min() <= far.max() or share < LEAST_SHARE:
        return None
    measure = measure_of(metric, max(abs(value), abs(against)))
    return share, Hold(
        f"{measure.name}: {measure.text(value)} against {measure.text(against)} of the only other"
        f" node; half of the {_ROWS[window.entity]} show each, so that they scatter by as much as"
        " they differ, and it adds up slowly or not at all;"
        f" in the last {len(window.seconds) * window.slot_seconds} s it has moved by"
        f" {own.moved():+.0%}, and the other by {other.moved():+.0%}"
    )
