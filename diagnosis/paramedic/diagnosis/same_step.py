"""Compares ranks by the step that they have ended, not by the second in which they told of it.

All ranks end a step at about the same moment, but a second may be over just then: some tell of the
step in it, the others in the next. Where steps take about a second or longer that befalls every
other step, and who has told alone would have no peers. So a peer that had told of the step before
stands beside those who tell of it now; it is no new evidence about that peer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.comparable import PROGRESS_METRIC

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Window


def telling_ranks(part: Window) -> NDArray[np.bool_]:
    """Who has told of a step in the newest slot of what may be compared, by row."""
    telling: NDArray[np.bool_] = part.observed.T[-1].any(axis=0)
    return telling


def with_peers_of_the_step(whole: Window, part: Window, telling: NDArray[np.bool_]) -> Window:
    """What may be compared, its newest slot with what the others have told of the same step.

    `whole` has the numbers of steps and the same rows as `part`; nothing is changed in either.
    """
    ended = _ended_before(whole, part, telling)
    if not ended.size:
        return part
    values, observed = part.values.T.copy(), part.observed.T.copy()
    told = observed[::-1, :, ended].any(axis=1)
    newest = len(observed) - 1 - told.argmax(axis=0)
    values[-1][:, ended] = values[newest, :, ended].T
    observed[-1][:, ended] = observed[newest, :, ended].T
    return replace(part, values=values.T, observed=observed.T)


def _ended_before(whole: Window, part: Window, telling: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Who has told of the step that is told of in the newest slot in an earlier one, by place."""
    if telling.all() or not telling.any() or PROGRESS_METRIC not in whole.metrics:
        return np.zeros(0, np.intp)
    at = whole.metrics.index(PROGRESS_METRIC)
    steps = np.where(whole.observed.T[-1, at], whole.values.T[-1, at], np.nan)
    told = np.fmax.reduce(steps[telling])
    has_told = part.observed.T[:-1].any(axis=(0, 1))
    return np.flatnonzero(~telling & has_told & (steps >= told))
