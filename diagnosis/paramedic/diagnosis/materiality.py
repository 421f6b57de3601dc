"""Whether a difference is large enough to act on, however surely it is one.

With enough evidence a machine that does one per cent less is odd beyond doubt, and nobody's
problem. So what a machine does for the job has to differ from its peers in the mean over all the
time since evidence began; errors, latencies and temperatures matter as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.recent import recent_means
from paramedic.models.departure.character import OF_WORK, About, character_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.departure import Departure
    from paramedic.ingest.contract import Window

LEAST_SHARE = 0.05
"""Of what is done, or of a step's time: less than that costs nobody anything."""
_FEWEST_SECONDS = 6
_MOSTLY = 0.9


def is_material(window: Window, departure: Departure) -> bool:
    """Whether any of the loud metrics differs by so much that somebody should look."""
    of_use = (*OF_WORK, About.USAGE)
    if departure.share_of(*of_use) < _MOSTLY:
        return True
    return _largest_difference(window, departure, of_use) >= LEAST_SHARE


def lost_seconds(window: Window, departure: Departure) -> float:
    """How much work has been lost since evidence began, were all of the difference a loss."""
    return min(1.0, _largest_difference(window, departure, OF_WORK)) * departure.seconds


def _largest_difference(window: Window, departure: Departure, matters: tuple[About, ...]) -> float:
    """Of the means since evidence began, of loud metrics, as a share of the peers' level."""
    slots = max(1, max(departure.seconds, _FEWEST_SECONDS) // window.slot_seconds)
    own = window.rows.index(departure.row)
    peers = [at for at, row in enumerate(window.rows) if row.node != departure.node]
    return max(
        (
            abs(_mean_difference(recent_means(window, metric, slots), own, peers))
            for metric in departure.loud
            if (known := character_of(metric)) is not None and known.about in matters
        ),
        default=0.0,
    )


def _mean_difference(means: NDArray[np.float64], own: int, peers: list[int]) -> float:
    """As a share of the peers' level; infinite where they do nothing of the kind."""
    mine, others = means[own], means[peers]
    usual = float(np.nanmedian(others)) if np.isfinite(others).any() else np.nan
    if not np.isfinite(mine) or not np.isfinite(usual):
        return 0.0
    return float(mine / usual - 1) if usual else np.inf
