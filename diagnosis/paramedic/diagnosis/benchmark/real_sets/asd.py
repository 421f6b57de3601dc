"""ASD as a row: how often the right server stands first, and what naming it online costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paramedic.diagnosis.benchmark.real_sets.asd_online import watch
from paramedic.diagnosis.benchmark.real_sets.asd_ranking import rank_runs, share_within
from paramedic.diagnosis.benchmark.real_sets.asd_reading import RESOLUTION, Asd, read_asd
from paramedic.diagnosis.benchmark.real_sets.evidence import ServerEvidence
from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow
from paramedic.ingest.contract import Entity
from paramedic.models.history import JobHistory

_LEAST_FIRST, _LEAST_AMONG_THREE = 0.60, 0.88
PROMISE = "right server first in 60 %, among three in 88 %"


def evaluate(folder: Path) -> RealSetRow:
    """Read, learn from the unlabelled days, judge the labelled ones. Raises RealSetError."""
    return judge(read_asd(folder))


def judge(asd: Asd) -> RealSetRow:
    """The row of a set that has been read."""
    evidence = ServerEvidence(_values(asd.past), RESOLUTION)
    values = _values(asd.labelled)
    ranked = rank_runs(asd, values, evidence)
    online = watch(asd, values, evidence)
    places = [one.place for one in ranked]
    first, among_three = share_within(places, 1), share_within(places, 3)
    figures: dict[str, float | int | str] = {
        "runs": len(ranked),
        "first": first,
        "among_three": among_three,
        "first_others_aside": share_within([one.place_without_others for one in ranked], 1),
        "online_found": online.found / max(1, online.runs),
        "online_found_first": online.found_first / max(1, online.runs),
        "online_delay_p50_seconds": online.median_delay_seconds,
        "online_false_alarms_per_server_day": online.false_alarms_per_server_day,
    }
    holds = first >= _LEAST_FIRST and among_three >= _LEAST_AMONG_THREE
    return RealSetRow("asd", figures, PROMISE, holds)


def _values(history: JobHistory) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return history.windows[Entity.NODE].values.astype(np.float64)
