"""Whether a difference is large enough to act on, however surely it is one.

With enough evidence a machine that does one per cent less is odd beyond doubt, and nobody's
problem. So what a machine does for the job has to differ from its peers in the mean over all the
time since evidence began; errors, latencies and temperatures matter as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.recent import recent_means
from paramedic.models.departure.character import characters_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.departure import Departure
    from paramedic.ingest.contract import Window

LEAST_SHARE = 0.05
"""Of what is done, or of a step's time: less than that costs nobody anything."""
_FEWEST_SECONDS = 6


def is_material(window: Window, departure: Departure) -> bool:
    """Whether any of the loud metrics differs by so much that somebody should look."""
    if not departure.loud:
        return True
    works = characters_of(departure.loud).work
    if not works.all():
        return True
    return _largest_difference(window, departure) >= LEAST_SHARE


def lost_seconds(window: Window, departure: Departure) -> float:
    """How much time has been lost since evidence began, were all of the difference a loss."""
    return min(1.0, _largest_difference(window, departure)) * departure.seconds


def _largest_difference(window: Window, departure: Departure) -> float:
    """Of the loud metrics' means since evidence began, as a share of the peers' level."""
    slots = max(1, max(departure.seconds, _FEWEST_SECONDS) // window.slot_seconds)
    own = window.rows.index(departure.row)
    peers = [at for at, row in enumerate(window.rows) if row.node != departure.node]
    return max(
        abs(_mean_difference(recent_means(window, metric, slots), own, peers))
        for metric in departure.loud
    )


def _mean_difference(means: NDArray[np.float64], own: int, peers: list[int]) -> float:
    """As a share of the peers' level; infinite where they do nothing of the kind."""
    mine, others = means[own], means[peers]
    usual = float(np.nanmedian(others)) if np.isfinite(others).any() else np.nan
    if not np.isfinite(mine) or not np.isfinite(usual):
        return 0.0
    return float(mine / usual - 1) if usual else np.inf
