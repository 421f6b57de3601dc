"""What a window shows lately: means and low values over its newest slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName, Window

    Bools = NDArray[np.bool_]


def parted(window: Window, node: NodeName, index: int | None = None) -> tuple[Bools, Bools]:
    """Which rows are a machine's (or one card of it), and which are its peers'.

    Peers are the rows of other machines; where there is no other, the rest of its own.
    """
    of_node = np.array([row.node == node for row in window.rows], np.bool_)
    own = of_node & np.array([index in (None, row.index) for row in window.rows], np.bool_)
    return own, ~own if of_node.all() else ~of_node


_LOW = 0.2
"""Of the slots: what is lower more seldom may be a glitch."""


def recent_means(
    window: Window, metric: str, slots: int, beside: int | None = None
) -> NDArray[np.float64]:
    """Of each row over so many newest slots; NaN where nothing was observed.

    `beside` a row: over those of them in which it was observed, so that all tell of the same time.
    """
    at = window.metrics.index(metric)
    seen, values = window.observed[:, at, -slots:], window.values[:, at, -slots:]
    if beside is not None:
        seen = seen & seen[beside]
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
    at = window.metrics.index(metric)
    seen, values = window.observed[:, at, -slots:], window.values[:, at, -slots:]
    seen = seen & seen[beside]
    found = np.full(len(seen), np.nan)
    is_seen = seen.any(axis=1)
    known = np.where(seen, values, np.nan)[is_seen].astype(np.float64)
    found[is_seen] = np.nanquantile(known, _LOW, axis=1)
    return found
