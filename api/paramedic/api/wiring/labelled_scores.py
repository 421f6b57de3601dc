"""How well a new model finds what is known to have been broken in the recordings it has seen.

Labels teach it nothing, but it has seen these machines: on others it may do worse.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.telling import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paramedic.models.detection import FaultyMachineDetector
    from paramedic.models.histories.labelled import LabelledHistory

_KEPT = (
    "precision",
    "recall",
    "f1",
    "f1_low",
    "f1_high",
    "delay_p50_seconds",
    "false_alarms_per_job_day",
    "threshold",
    "episodes",
)


def labelled_scores(
    detector: FaultyMachineDetector, seen: Sequence[LabelledHistory], stderr: TextIO
) -> Mapping[str, float]:
    """Scores by name; none where known faults lie in fewer than two jobs.

    The threshold is chosen on every other job, and the scores are of the rest, as in the notebook
    that compares models. Recordings of which nothing is known count as healthy.
    """
    jobs = {one.history.job for one in seen if one.faults}
    if not jobs:
        return {}
    if len(jobs) < 2:
        say(stderr, "known faults are in one job alone: no scores of finding them, it takes two")
        return {}
    say(stderr, f"looking for what is known to have been broken in {len(jobs)} jobs")
    return _measured(detector, seen)


def _measured(
    detector: FaultyMachineDetector, seen: Sequence[LabelledHistory]
) -> Mapping[str, float]:
    from paramedic.diagnosis.benchmark.real_sets.own_recordings import compare
    from paramedic.models.histories.workbench import split

    (row,) = compare([detector], *split(list(seen)))
    told = ((name, getattr(row, name)) for name in _KEPT)
    return {
        f"labelled_{name}": value if isinstance(value, int) else round(value, 4)
        for name, value in told
        if value is not None and isfinite(value)
    }
