"""Whether what a machine shows beside its peers is new, and more than such data move by chance.

Of many metrics one or the other is always different, or has a burst just now. So a difference is
asked whether most of it has come since the onset, and has been there from then on; and whether it
has moved farther than means over as long have wandered before, the machine's own and its peers',
and than its peers have moved since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.family.comparing import median

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from paramedic.diagnosis.family.measuring import Stretch
    from paramedic.ingest.contract import Window

    Floats = NDArray[np.float64]

_MOST = 0.5
_MARGIN = 2.0
"""So many times as far as chance has gone in what is held, which is never long."""
_SELDOM = 0.9
"""Chance is what nine tenths of the peers stay within: another may have a trouble of its own."""
_FEWEST_SLOTS = 6
"""Of a shorter past nobody can tell how means over it wander."""


def is_beyond_chance(
    window: Window, metric: str, row: int, peers: Sequence[int], stretch: Stretch
) -> bool:
    """Whether this row differs from its peers since the onset, and did not before.

    No where too little is held to tell.
    """
    at = window.metrics.index(metric)
    rows = [row, *peers]
    values = np.where(window.observed[rows, at], window.values[rows, at], np.nan)
    new, past = stretch.whole(window), stretch.past(window)
    width, held = new.stop - new.start, past.stop - past.start
    if not peers or width < 2 or held < _FEWEST_SLOTS:
        return False
    alone = np.isnan(values[1:]).all(axis=0)
    apart = values.astype(np.float64) - np.where(alone, np.nan, median(values[1:]))
    before, now = _mean(apart[:, past]), _mean(apart[:, new])
    chance = _chance(apart[:, past], before, min(width, held // 2), now)
    side, moved = np.sign(now[0] - before[0]), abs(now[0] - before[0])
    halves = np.array_split(apart[:1, new], 2, axis=1)
    lasts = all(side * (_mean(half)[0] - before[0]) > chance for half in halves)
    is_new = moved >= _MOST * side * now[0]
    return bool(lasts and is_new and moved > _MARGIN * chance)


def _chance(past: Floats, before: Floats, width: int, now: Floats) -> float:
    """How far a mean over so many slots has wandered, or a peer has moved: each for itself."""
    blocks = np.lib.stride_tricks.sliding_window_view(past, width, axis=1)
    means = _mean(blocks.reshape(-1, width)).reshape(len(past), -1)
    wandered = np.nanmax(np.abs(means - before[:, None]), axis=1, initial=0.0)
    peers = np.fmax(wandered, np.nan_to_num(np.abs(now - before)))[1:]
    return max(float(wandered[0]), float(np.quantile(peers, _SELDOM)))


def _mean(values: Floats) -> Floats:
    """Of each row; NaN where nothing was observed."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    mean: Floats = np.full(len(values), np.nan)
    np.divide(np.where(known, values, 0.0).sum(axis=1), count, out=mean, where=count > 0)
    return mean
