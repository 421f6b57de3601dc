"""How many metrics show a fault at all: the episode beside its twin in which nothing breaks.

A metric shows the fault where the broken machine departs from its peers by more than four standard
deviations of its own past, in means over 40 seconds, for at least a quarter of the time; or where
it is no longer there. What everybody has to bear alike is no departure of anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.ingest.contract import Entity, Window
from paramedic.ingest.synthetic.arrays import Booleans, Floats
from paramedic.ingest.synthetic.episodes.living import LivedEpisode, live
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, FaultLabel

_DEVIATIONS = 4.0
_MEAN_SECONDS = 40
_TIME_RATIO = 0.25
_ABSENT_RATIO = 0.2
_LEAST_DEVIATION = 1e-9
_LEAST_RATIO = 5e-4
"""Less than this share of a metric's level is rounding, not noise."""


def visible_metrics(plan: EpisodePlan) -> frozenset[str]:
    """The metrics that show the plan's first fault, at its machine; none where nothing breaks."""
    return visible_beside(live(plan), live(without_faults(plan)))


def without_faults(plan: EpisodePlan) -> EpisodePlan:
    """The same episode, in which nothing breaks."""
    return replace(plan, cluster=replace(plan.cluster, faults=()))


def visible_beside(episode: LivedEpisode, twin: LivedEpisode) -> frozenset[str]:
    """The same of episodes that have been lived."""
    if not episode.labels:
        return frozenset()
    pairs = ((window, twin.windows[entity]) for entity, window in episode.windows.items())
    shown = (metric for hurt, well in pairs for metric in _visible(hurt, well, episode.labels))
    return frozenset(shown)


@dataclass(frozen=True, slots=True)
class _Sides:
    """Rows that are compared."""

    mine: Booleans
    others: Booleans
    """Struck by nothing."""


def _visible(hurt: Window, well: Window, labels: Sequence[FaultLabel]) -> Iterator[str]:
    struck = [_struck(hurt, label) for label in labels]
    sides, label = _Sides(struck[0], ~np.logical_or.reduce(struck)), labels[0]
    onset = label.onset - hurt.first_second
    until = min(
        (second - hurt.first_second for second in (label.end, label.halted_at) if second),
        default=len(hurt.seconds),
    )
    when = slice(onset, until)
    for at, metric in enumerate(hurt.metrics):
        if _seen(hurt, at, sides, when) < (1.0 - _ABSENT_RATIO) * _seen(well, at, sides, when):
            yield metric
        else:
            least = _LEAST_RATIO * _level(well, at) + _LEAST_DEVIATION
            apart = _apart(hurt, at, sides), _apart(well, at, sides)
            if _departs(*apart, when, least):
                yield metric


def _seen(window: Window, metric: int, sides: _Sides, when: slice) -> float:
    """How often the struck rows were observed for each time that the others were."""
    seen = window.observed[:, metric, when]
    others = float(seen[sides.others].mean())
    return float(seen[sides.mine].mean()) / others if others > 0.0 else 1.0


def _struck(window: Window, label: FaultLabel) -> Booleans:
    """The rows that the fault is at."""
    rows_a_node = len(window.rows) // len({row.node for row in window.rows})
    is_whole = window.entity is Entity.NODE or label.gpu is None
    return np.array([
        row.node in label.nodes and (is_whole or at % rows_a_node == label.gpu)
        for at, row in enumerate(window.rows)
    ])  # fmt: skip


def _apart(window: Window, metric: int, sides: _Sides) -> Floats:
    """How far the struck rows are from the others, in means over some seconds."""
    values, seen = window.values[:, metric], window.observed[:, metric]
    mine, others = (_mean_of(values[one], seen[one]) for one in (sides.mine, sides.others))
    return _smooth(mine - others)


def _level(window: Window, metric: int) -> float:
    seen = window.values[:, metric][window.observed[:, metric]]
    return float(np.abs(seen).mean()) if len(seen) else 0.0


def _departs(hurt: Floats, well: Floats, when: slice, least: float) -> bool:
    past = well[_MEAN_SECONDS : when.start]
    past = past[np.isfinite(past)]
    change = np.abs(hurt - well)[when]
    change = change[np.isfinite(change)]
    if not len(past) or not len(change):
        return False
    deviation = max(float(past.std()), least)
    return float((change > _DEVIATIONS * deviation).mean()) >= _TIME_RATIO


def _mean_of(values: NDArray[Any], seen: Booleans) -> Floats:
    """Over the rows that were seen; (seconds,), NaN where none was."""
    return _over(np.where(seen, values, 0.0).sum(axis=0, dtype=np.float64), seen.sum(axis=0))


def _smooth(values: Floats) -> Floats:
    """Means over the seconds before; NaN where nothing was seen in all of them."""
    seen = np.isfinite(values)
    total = np.cumsum(np.where(seen, values, 0.0))
    number = np.cumsum(seen)
    total[_MEAN_SECONDS:] -= total[:-_MEAN_SECONDS].copy()
    number[_MEAN_SECONDS:] -= number[:-_MEAN_SECONDS].copy()
    return _over(total, number)


def _over(total: Floats, number: NDArray[Any]) -> Floats:
    mean: Floats = np.divide(total, number, out=np.full(len(total), np.nan), where=number > 0)
    return mean
