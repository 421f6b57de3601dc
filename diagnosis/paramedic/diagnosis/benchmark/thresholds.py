"""Thresholds are chosen on validation, by F1 with the false alarms of healthy hours counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paramedic.diagnosis.benchmark.outcome import Outcome


def best_threshold(validation: Mapping[float, Sequence[Outcome]]) -> float:
    """The threshold with the best F1; of equally good ones the middle one, which is the safest.

    Raises ValueError when there is none.
    """
    f1 = {threshold: Counts.of(outcomes).f1 for threshold, outcomes in validation.items()}
    best = max(f1.values())
    equally_good = sorted(threshold for threshold, value in f1.items() if value == best)
    return equally_good[len(equally_good) // 2]
