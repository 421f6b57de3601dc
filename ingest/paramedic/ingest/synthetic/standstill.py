"""Time in which a GPU does nothing for the job: gaps between kernels, ranks that have stopped."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from paramedic.ingest.synthetic.arrays import Booleans, Floats
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.living import Shares


def stand_still(shares: Shares, causes: Causes) -> None:
    """Book gaps between kernels and the time of ranks that have stopped as what they are."""
    if causes.launch_gap_ratio.any():
        lost = shares.busy * np.minimum(causes.launch_gap_ratio, 0.95)
        shares.busy -= lost
        shares.idle += lost
    _do_only(shares, shares.busy, causes.runs_away)
    _do_only(shares, shares.idle, causes.is_idle | ~causes.has_process)


def _do_only(shares: Shares, what: Floats, who: Booleans) -> None:
    if who.any():
        for part in fields(shares):
            getattr(shares, part.name)[who] = 0.0
        what[who] = 1.0
