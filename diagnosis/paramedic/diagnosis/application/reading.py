"""What a closed slot says of the job as a whole: the median of what its ranks tell of their steps.

Absent is NaN. A number that is none (infinite, for NaN means "not observed" on the way here) is
kept as infinity if any rank tells it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Window

_STEP, _SECONDS, _SAMPLES, _LOADING = (
    "step", "step_seconds", "samples_per_second", "dataloader_seconds"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class JobSlot:
    """The newest slot of a job, all its ranks together."""

    second: int
    step: float
    """The newest that any rank has completed."""
    loss: float
    gradient_norm: float
    learning_rate: float
    global_batch_size: float
    step_seconds: float
    samples_per_second: float
    loading_share: float
    """Of a step, waiting for data, in the median rank."""


def job_slot(window: Window) -> JobSlot | None:
    """The window's newest slot; None where no rank tells anything of its training."""
    values, is_told = window.values.T[-1], window.observed.T[-1].any(axis=1)
    newest = {
        window.metrics[at]: values[at].astype(np.float64) for at in np.flatnonzero(is_told).tolist()
    }
    if not newest or newest.keys() == {"heartbeat"}:
        return None
    return JobSlot(
        second=window.last_second,
        step=_newest(newest.get(_STEP)),
        loss=_worst(newest.get("loss")),
        gradient_norm=_worst(newest.get("gradient_norm")),
        learning_rate=_median(newest.get("learning_rate")),
        global_batch_size=_median(newest.get("global_batch_size")),
        step_seconds=_median(newest.get(_SECONDS)),
        samples_per_second=_median(newest.get(_SAMPLES)),
        loading_share=_share(newest.get(_LOADING), newest.get(_SECONDS)),
    )


def _newest(steps: NDArray[np.float64] | None) -> float:
    """The highest that is a number."""
    known = np.empty(0) if steps is None else steps[np.isfinite(steps)]
    return float(known.max()) if known.size else math.nan


def _median(values: NDArray[np.float64] | None) -> float:
    """Of what was observed.

    >>> _median(np.array([1.0, np.nan, 3.0, 4.0]))
    3.0
    """
    if values is None:
        return math.nan
    known = np.sort(values)[: int(np.count_nonzero(values == values))]
    middle = (known.size - 1) // 2
    return float(known[middle] + known[known.size // 2]) / 2


def _worst(values: NDArray[np.float64] | None) -> float:
    """The median, unless somebody has no number any more: then the whole job has none soon."""
    if values is not None and np.isinf(values).any():
        return math.inf
    return _median(values)


def _share(part: NDArray[np.float64] | None, whole: NDArray[np.float64] | None) -> float:
    if part is None or whole is None:
        return math.nan
    is_share = (whole > 0) & np.isfinite(whole)
    ratios = part[is_share] / whole[is_share]
    return _median(ratios) if np.any(ratios == ratios) else math.nan
