"""In which metrics a faulty machine shows it, measured with hindsight.

For each metric: how much the faulty rows changed from before the onset to after it, beyond what
the sound rows of the job did, in robust standard deviations of the sound ones' changes, and beyond
twice what hardly any of them does. No detector could compute it, for it is told where and when to
look; it says how hard an episode is.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.contract import Entity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from paramedic.diagnosis.benchmark.episodes import Fault
    from paramedic.ingest.contract import EntityKey, NodeName, Window
    from paramedic.models.history import JobHistory

BEFORE_SECONDS = 180
AFTER_SECONDS = 300
PLAIN = 8.0
"""Robust standard deviations from which on a change is plain."""
HARDLY_ANY = 0.98
_TIMES_HARDLY_ANY = 2.0
_TO_DEVIATION = 1.4826
_LEAST_RELATIVE = 1e-3
"""Changes smaller than this share of the metric's level are no changes, however alike the others
are."""


def metrics_that_show(
    history: JobHistory, fault: Fault, broken: Collection[NodeName]
) -> frozenset[str]:
    """Those in which the change is plain; none: it is hardly to be seen anywhere.

    `broken` are all nodes of the job that are no peers, because something is wrong with them.
    """
    windows = history.windows.values()
    return frozenset(name for window in windows for name in _shown(window, fault, broken))


def _shown(window: Window, fault: Fault, broken: Collection[NodeName]) -> Iterator[str]:
    mine = np.array([_is_hit(row, fault) for row in window.rows], dtype=np.bool_)
    sound = np.array([row.node not in broken for row in window.rows], dtype=np.bool_)
    onset = fault.onset - window.first_second
    last = onset + AFTER_SECONDS
    if fault.stopped_at is not None:  # from then on everybody does something else
        last = min(last, max(onset + 1, fault.stopped_at - window.first_second))
    before = _mean(window, max(0, onset - BEFORE_SECONDS), onset)
    after = _mean(window, onset, last)
    if before is None or after is None or not mine.any() or not sound.any():
        return
    plain = _is_plain(after - before, np.abs(before), mine, sound)
    yield from (name for name, yes in zip(window.metrics, plain.tolist(), strict=True) if yes)


def _is_hit(row: EntityKey, fault: Fault) -> bool:
    is_other_card = row.entity is Entity.GPU and fault.gpu not in (None, row.index)
    return row.node in fault.nodes and not is_other_card


def _mean(window: Window, begin: int, end: int) -> NDArray[np.float64] | None:
    """Of each row and metric over these slots; NaN where nothing was observed."""
    width = window.slot_seconds
    values = window.values[:, :, begin // width : end // width].astype(np.float64)
    if values.shape[2] == 0:
        return None
    seen = window.observed[:, :, begin // width : end // width]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(seen, values, 0.0).sum(axis=2) / seen.sum(axis=2))


def _is_plain(
    change: NDArray[np.float64],
    level: NDArray[np.float64],
    mine: NDArray[np.bool_],
    sound: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Of each metric: whether one of my rows departs plainly from the sound ones' changes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a metric that nobody has: NaN
        centre = np.nanmedian(change[sound], axis=0)
        others = np.abs(change[sound] - centre)
        spread = _TO_DEVIATION * np.nanmedian(others, axis=0)
        least = _LEAST_RELATIVE * np.nanmedian(level[sound], axis=0)
        most = _TIMES_HARDLY_ANY * np.nanquantile(others, HARDLY_ANY, axis=0)
        limit = np.fmax(PLAIN * np.fmax(spread, least), most)
        largest = np.nanmax(np.abs(change[mine] - centre), axis=0)
    return np.asarray(largest > limit)
