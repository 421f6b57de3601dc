"""In how many metrics a faulty machine shows it, measured with hindsight.

For each metric: how much the faulty rows changed from before the onset to after it, beyond what the
other rows of the job did, in robust standard deviations of the others' changes. No detector could
compute it, for it is told where and when to look; it says how hard an episode is.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.contract import Entity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.benchmark.episodes import Fault
    from paramedic.ingest.contract import Window
    from paramedic.models.history import JobHistory

BEFORE_SECONDS = 180
AFTER_SECONDS = 300
PLAIN = 6.0
"""Robust standard deviations from which on a change is plain."""
_TO_DEVIATION = 1.4826
_LEAST_RELATIVE = 1e-3
"""Changes smaller than this share of the metric's level are no changes, however alike the others
are."""


def metrics_shown(history: JobHistory, fault: Fault) -> int:
    """The number of metrics in which the change is plain; 0: hardly to be seen anywhere."""
    names = (_shown(window, fault) for window in history.windows.values())
    return len({name for some in names for name in some})


def _shown(window: Window, fault: Fault) -> set[str]:
    mine = np.array([
        row.node in fault.nodes
        and (row.entity is not Entity.GPU or fault.gpu is None or row.index == fault.gpu)
        for row in window.rows
    ], dtype=np.bool_)  # fmt: skip
    onset = fault.onset - window.first_second
    last = onset + AFTER_SECONDS
    if fault.stopped_at is not None:  # from then on everybody does something else
        last = min(last, max(onset + 1, fault.stopped_at - window.first_second))
    before = _mean(window, max(0, onset - BEFORE_SECONDS), onset)
    after = _mean(window, onset, last)
    if before is None or after is None or mine.all() or not mine.any():
        return set()
    plain = _deviation(after - before, np.abs(before), mine) > PLAIN
    return {name for name, is_plain in zip(window.metrics, plain.tolist(), strict=True) if is_plain}


def _mean(window: Window, begin: int, end: int) -> NDArray[np.float64] | None:
    """Of each row and metric over these slots; NaN where nothing was observed."""
    width = window.slot_seconds
    values = window.values[:, :, begin // width : end // width].astype(np.float64)
    if values.shape[2] == 0:
        return None
    seen = window.observed[:, :, begin // width : end // width]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(seen, values, 0.0).sum(axis=2) / seen.sum(axis=2))


def _deviation(
    change: NDArray[np.float64], level: NDArray[np.float64], mine: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Of each metric: the largest departure of one of my rows from the others' changes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a metric that nobody has: NaN
        centre = np.nanmedian(change[~mine], axis=0)
        spread = _TO_DEVIATION * np.nanmedian(np.abs(change[~mine] - centre), axis=0)
        least = _LEAST_RELATIVE * np.nanmedian(level[~mine], axis=0) + np.finfo(np.float32).tiny
        departures = np.abs(change[mine] - centre) / np.fmax(spread, least)
        return np.nan_to_num(np.asarray(np.nanmax(departures, axis=0)), nan=0.0, posinf=0.0)
