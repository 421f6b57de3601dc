"""ASD as it comes in: every five minutes the last half hour is judged, and servers are named.

The limit is the one at which the unlabelled past would have had a given number of alarms; no label
is looked at before it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.benchmark.real_sets.asd_reading import SLOT_SECONDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.benchmark.real_sets.asd_reading import Asd, LabelledRun
    from paramedic.diagnosis.benchmark.real_sets.evidence import ServerEvidence, Values

TRAILING_SLOTS = 6
ALARMS_PER_SERVER_WEEK = 1.0
_SLOTS_A_DAY = 86_400 // SLOT_SECONDS
_BISECTIONS = 40


@dataclass(frozen=True, slots=True)
class OnlineOutcome:
    """What naming servers as telemetry comes in has led to."""

    runs: int
    found: int
    """Runs whose server was named while they went on."""
    found_first: int
    """… and before any server that was not labelled then."""
    median_delay_seconds: float
    """From the run's first slot to the end of the one that decided; NaN where none was found."""
    false_alarms_per_server_day: float
    """Where nobody was labelled."""


def watch(asd: Asd, values: Values, evidence: ServerEvidence) -> OnlineOutcome:
    """Play the labelled days."""
    limit = limit_for(evidence.past_trailing(TRAILING_SLOTS), ALARMS_PER_SERVER_WEEK / 7)
    hot = np.nan_to_num(evidence.of_trailing(values, TRAILING_SLOTS)) > limit
    found = [delay for run in asd.localisable_runs if (delay := _delay(asd, run, hot)) is not None]
    unlabelled = ~_widened(asd.labels)
    false_alarms = int((onsets(hot) & unlabelled).sum())
    server_days = hot.shape[0] * max(1, int(unlabelled.sum())) / _SLOTS_A_DAY
    delays = [slots * SLOT_SECONDS for slots, _ in found]
    return OnlineOutcome(
        runs=len(asd.localisable_runs),
        found=len(found),
        found_first=sum(is_first for _, is_first in found),
        median_delay_seconds=float(np.median(delays)) if delays else float("nan"),
        false_alarms_per_server_day=false_alarms / server_days,
    )


def limit_for(scores: Values, alarms_per_server_day: float) -> float:
    """The lowest limit at which these scores, (server, slot), have no more alarms than that."""
    days = np.count_nonzero(~np.isnan(scores)) / _SLOTS_A_DAY
    known = np.nan_to_num(scores)
    low, high = 0.0, float(known.max())
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        too_many = onsets(known > middle).sum() > alarms_per_server_day * days
        # Below the bulk of the scores alarms merge, and few of them are no sign of a good limit.
        if too_many or (known > middle).mean() > 1 / TRAILING_SLOTS:
            low = middle
        else:
            high = middle
    return high


def onsets(hot: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where an alarm begins: hot, and cool for the whole trailing time before."""
    before = np.zeros_like(hot)
    for back in range(1, TRAILING_SLOTS + 1):
        before[:, back:] |= hot[:, :-back]
    return hot & ~before


def _delay(asd: Asd, run: LabelledRun, hot: NDArray[np.bool_]) -> tuple[int, bool] | None:
    """Slots until the right server is named, and whether nobody unlabelled was named before."""
    during = hot[:, run.first : run.end]
    own = during[asd.place(run.node)]
    if not own.any():
        return None
    at = int(own.argmax())
    unlabelled = ~asd.labels[:, run.first : run.end].any(axis=1)
    return at + 1, not during[unlabelled, : at + 1].any()


def _widened(labels: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Slots in which a server is labelled, or was so lately that the trailing time sees it."""
    labelled = np.count_nonzero(labels, axis=0) > 0
    kernel = np.ones(TRAILING_SLOTS + 1)
    return np.convolve(labelled.astype(np.float64), kernel)[: labelled.size] > 0
