"""ASD: in a labelled run, at which place does the labelled server stand?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.diagnosis.benchmark.real_sets.asd_reading import Asd, LabelledRun
    from paramedic.diagnosis.benchmark.real_sets.evidence import ServerEvidence, Values


@dataclass(frozen=True, slots=True)
class Ranked:
    """Where the labelled server of a run stands among all; 1 is the most unusual."""

    run: LabelledRun
    place: int
    place_without_others: int
    """The same when other servers that are labelled at that time are set aside."""


def rank_runs(asd: Asd, values: Values, evidence: ServerEvidence) -> list[Ranked]:
    """Rank the servers in each run in which one or few deviated."""
    return [_ranked(asd, run, values, evidence) for run in asd.localisable_runs]


def share_within(places: Sequence[int], most: int) -> float:
    """The share of places up to this one.

    >>> share_within([1, 2, 5, 1], 1)
    0.5
    """
    return sum(place <= most for place in places) / max(1, len(places))


def _ranked(asd: Asd, run: LabelledRun, values: Values, evidence: ServerEvidence) -> Ranked:
    scores = np.nan_to_num(evidence.of_stretch(values, run.first, run.end))
    own = asd.place(run.node)
    above = scores > scores[own]
    also_labelled = asd.labels[:, run.first : run.end].any(axis=1)
    return Ranked(run, 1 + int(above.sum()), 1 + int((above & ~also_labelled).sum()))
