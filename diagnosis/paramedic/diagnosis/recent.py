"""What a window shows lately: means and low values over its newest slots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName, Window

    Bools = NDArray[np.bool_]

_LOW = 0.2
"""Of the slots: what is lower more seldom may be a glitch."""


def parted(window: Window, node: NodeName, index: int | None = None) -> tuple[Bools, Bools]:
    """Which rows are a machine's (or one card of it), and which are its peers'.

    Peers are the rows of other machines; where there is no other, the rest of its own.
    """
    of_node = np.array([row.node == node for row in window.rows], np.bool_)
    own = of_node & np.array([index in (None, row.index) for row in window.rows], np.bool_)
    return own, ~own if of_node.all() else ~of_node


def recent_means(
    window: Window, metric: str, slots: int, beside: int | None = None
) -> NDArray[np.float64]:
    """Of each row over so many newest slots; NaN where nothing was observed.

    `beside` a row: over those of them in which it was observed, so that all tell of the same time.
    """
    seen, values = _newest(window, metric, slots, beside)
    count: NDArray[np.float64] | int = seen.shape[1]
    if not seen.all():
        values = np.where(seen, values, 0.0)
        known = np.count_nonzero(seen, axis=1)
        count = np.where(known > 0, known, np.nan)
    means: NDArray[np.float64] = values.astype(np.float64).sum(axis=1) / count
    return means


def recent_low(window: Window, metric: str, slots: int, beside: int) -> NDArray[np.float64]:
    """What each row is seldom below in those of so many newest slots in which that row was
    observed; NaN where nothing was."""
    seen, values = _newest(window, metric, slots, beside)
    found = np.full(len(seen), np.nan)
    is_seen = seen.any(axis=1)
    known = np.where(seen, values, np.nan)[is_seen].astype(np.float64)
    found[is_seen] = np.nanquantile(known, _LOW, axis=1)
    return found


def _newest(
    window: Window, metric: str, slots: int, beside: int | None
) -> tuple[Bools, NDArray[np.floating[Any]]]:
    """What was observed of the metric in these slots, and the values, (row, slot)."""
    at = window.metrics.index(metric)
    seen = window.observed[:, at, -slots:]
    return (seen if beside is None else seen & seen[beside]), window.values[:, at, -slots:]


def newest_slot(window: Window, metrics: Sequence[int]) -> NDArray[np.float64]:
    """These metrics, by place, in the newest slot, (metric, row); NaN where not observed or not a
    number."""
    places = list(metrics)
    values = window.values.T[-1, places].astype(np.float64)
    there = np.isfinite(values) & window.observed.T[-1, places]
    if not there.all():
        values[~there] = np.nan
    return values
