"""What keeps an episode from being seen whole: clocks that are off, metrics and samples not there.

Windows are changed in place: whoever lives an episode owns its arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from paramedic.ingest.contract import Entity, Window
from paramedic.ingest.synthetic.arrays import Booleans, Floats
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan
from paramedic.ingest.synthetic.randomness import Dice, Stream

_HOLE_SECONDS = 4
Windows = Mapping[Entity, Window]


def with_wrong_clocks(windows: Windows, offset_seconds: Floats) -> Windows:
    """Each node's values in the slots that its own clock says; offsets (nodes,)."""
    shifts = np.floor(offset_seconds + 0.5).astype(int)
    for window in windows.values():
        rows_a_node = len(window.rows) // len(shifts)
        for node in np.flatnonzero(shifts).tolist():
            rows = slice(node * rows_a_node, (node + 1) * rows_a_node)
            _shift(window, rows, int(shifts[node]))
    return windows


def with_gaps(plan: EpisodePlan, windows: Windows) -> Windows:
    """Without the share that is missing: whole metrics, or samples of nodes for some seconds."""
    if plan.missing_share <= 0.0:
        return windows
    rng = Dice(plan.cluster.seed).at(Stream.MISSING, 0)
    if rng.random() < 0.5:
        return {
            entity: _without_metrics(one, plan.missing_share, rng)
            for entity, one in windows.items()
        }
    for window in windows.values():
        _cut_holes(window, plan, rng)
    return windows


def _shift(window: Window, rows: slice, by: int) -> None:
    moved = np.roll(window.values[rows], by, axis=2)
    moved[..., slice(None, by) if by > 0 else slice(by, None)] = np.nan
    window.values[rows] = moved
    window.observed[rows] = ~np.isnan(moved)


def _without_metrics(window: Window, share: float, rng: np.random.Generator) -> Window:
    number = len(window.metrics)
    kept = np.sort(rng.permutation(number)[: max(1, round(number * (1.0 - share)))])
    return replace(
        window,
        metrics=tuple(window.metrics[at] for at in kept.tolist()),
        values=np.ascontiguousarray(window.values[:, kept]),
        observed=np.ascontiguousarray(window.observed[:, kept]),
    )


def _cut_holes(window: Window, plan: EpisodePlan, rng: np.random.Generator) -> None:
    nodes = plan.cluster.shape.nodes
    blocks = -(-plan.seconds // _HOLE_SECONDS)
    lost: Booleans = rng.random((nodes, blocks)) < plan.missing_share
    by_second = np.repeat(lost, _HOLE_SECONDS, axis=1)[:, : plan.seconds]
    holes = np.repeat(by_second, len(window.rows) // nodes, axis=0)
    holes = np.broadcast_to(holes[:, None, :], window.values.shape)
    window.values[holes] = np.nan
    window.observed[holes] = False
