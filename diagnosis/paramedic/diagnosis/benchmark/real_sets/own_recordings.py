"""Detectors compared on recordings of one's own, as far as it is known what was broken in them.

Scored as the benchmark scores its episodes: machine-exact, thresholds chosen on other recordings
than those the rows are computed on.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.episodes import Facts, Fault, Part
from paramedic.diagnosis.benchmark.outcome import judge
from paramedic.diagnosis.benchmark.scoreboard import Row, row_of
from paramedic.diagnosis.benchmark.thresholds import best_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paramedic.diagnosis.benchmark.outcome import Outcome
    from paramedic.models.detection import FaultyMachineDetector
    from paramedic.models.histories.labelled import LabelledHistory


def compare(
    detectors: Sequence[FaultyMachineDetector],
    validation: Sequence[LabelledHistory],
    test: Sequence[LabelledHistory],
    clock: Callable[[], float] = time.process_time,
) -> list[Row]:
    """A row for each detector, which has to be trained, in their order.

    Raises ValueError when either part is empty.
    """
    if not validation or not test:
        raise ValueError(
            f"{len(validation)} recordings to choose thresholds on and {len(test)} to compare on:"
            " both have to be there, and none may be in both"
        )
    return [_row(one, validation, test, clock) for one in detectors]


def facts_of(labelled: LabelledHistory, part: Part) -> Facts:
    """What the scoring has to know of a stretch."""
    history = labelled.history
    faults = tuple(
        Fault(
            kind=one.kind,
            nodes=one.nodes,
            onset=one.onset,
            end=one.end,
            halted_at=one.halted_at,
            is_group=one.is_group,
            gpu=one.gpu,
        )
        for one in labelled.faults
    )
    return Facts(
        name=labelled.name,
        job=history.job,
        part=part,
        nodes=len(history.nodes),
        first_second=history.seconds[0],
        seconds=len(history.seconds) * history.seconds.step,
        faults=faults,
    )


def _row(
    detector: FaultyMachineDetector,
    validation: Sequence[LabelledHistory],
    test: Sequence[LabelledHistory],
    clock: Callable[[], float],
) -> Row:
    chosen = _outcomes(detector, validation, Part.VALIDATION, detector.thresholds, clock)
    threshold = best_threshold(chosen)
    outcomes = _outcomes(detector, test, Part.TEST, (threshold,), clock)[threshold]
    return row_of(detector.name, Part.TEST, threshold, outcomes)


def _outcomes(
    detector: FaultyMachineDetector,
    part: Sequence[LabelledHistory],
    name: Part,
    thresholds: Sequence[float],
    clock: Callable[[], float],
) -> dict[float, list[Outcome]]:
    """By threshold, an outcome for each history."""
    found: dict[float, list[Outcome]] = {threshold: [] for threshold in thresholds}
    for labelled in part:
        facts, begun = facts_of(labelled, name), clock()
        examination = detector.examine(labelled.history)
        taken = clock() - begun
        for threshold, outcomes in found.items():
            outcomes.append(judge(facts, examination.alarms(threshold), taken))
    return found
