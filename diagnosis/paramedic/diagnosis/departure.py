"""A row, or all rows of a node, whose evidence has reached the level."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.departure.character import About, is_about

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from paramedic.diagnosis.rows_test import RowsTest
    from paramedic.ingest.contract import EntityKey, NodeName, Window

_LOUD_SHARE = 0.1
"""A metric with so much of what the loudest says is loud."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A GPU, a node or a domain that departs from its peers."""

    row: EntityKey
    """The strongest of its rows."""
    gpu: int | None
    """None when it is the node's trouble."""
    alike: tuple[EntityKey, ...]
    """The node's rows that depart together."""
    since: int
    """The second in which the evidence began."""
    second: int
    nats: float
    level: float
    told_by: Mapping[str, float]
    """Signed deviation of the metrics that speak against it, the loudest first."""
    loud: tuple[str, ...]
    """Those that say most of it."""
    weights: Mapping[str, float]
    """How much of it each metric says; together 1."""
    job_lost_share: float | None = None
    """How much less the whole job has worked since then; None where that is not known."""
    makers: Mapping[str, float] = field(default_factory=dict)
    """How much of what has added up each metric has added, lately or before; together 1."""

    @property
    def node(self) -> NodeName:
        """The node that is named."""
        return self.row.node

    @property
    def seconds(self) -> int:
        """For how long there has been evidence."""
        return self.second - self.since + 1

    @property
    def job_lost_seconds(self) -> float | None:
        """How many seconds of work that is."""
        share = self.job_lost_share
        return None if share is None else share * float(self.second - self.since)

    def share_of(self, *matters: About) -> float:
        """How much of it is said by metrics of these matters."""
        return _share_of(self.weights, matters)

    def made_by(self, *matters: About) -> float:
        """How much of what has added up these matters have added, lately or before."""
        return _share_of(self.makers or self.weights, matters)


def _share_of(weights: Mapping[str, float], matters: tuple[About, ...]) -> float:
    return sum(weight for metric, weight in weights.items() if is_about(metric, matters))


def departure_of(test: RowsTest, window: Window, alike: tuple[int, ...], of: int) -> Departure:
    """What the test says against these rows of a node that has so many; its slot is weighed."""
    evidence, slot = test.evidence, test.slot
    assert slot is not None  # it has been weighed
    strength = evidence.strength
    at = max(alike, key=lambda one: float(strength[one]))
    row = window.rows[at]
    is_nodes = row.index is None or len(alike) > max(1, of // 2)
    loud, made = evidence.speakers(at), evidence.makers(at)
    deviation: NDArray[np.float64] = slot.deviation(evidence.pace_of(at))[:, at]
    ranked = np.lexsort((-np.abs(deviation), -loud)).tolist()
    return Departure(
        row=row,
        gpu=None if is_nodes else row.index,
        alike=tuple(window.rows[one] for one in (alike if is_nodes else (at,))),
        since=evidence.since(at),
        second=window.last_second,
        nats=float(evidence.nats[at]),
        level=evidence.level,
        told_by={slot.metrics[m]: float(deviation[m]) for m in ranked},
        loud=tuple(slot.metrics[m] for m in ranked if loud[m] >= _LOUD_SHARE * loud[ranked[0]] > 0),
        weights={slot.metrics[m]: float(loud[m] / loud.sum()) for m in ranked if loud[m] > 0},
        makers={slot.metrics[m]: float(made[m] / made.sum()) for m in ranked if made[m] > 0},
    )
