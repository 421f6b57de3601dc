"""Detectors compared on one's own recordings, scored as the benchmark scores its episodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from paramedic.diagnosis.benchmark.episodes import Part
from paramedic.diagnosis.benchmark.real_sets.own_recordings import compare, facts_of
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.detection import Alarm
from paramedic.models.histories.labelled import LabelledHistory
from paramedic.models.histories.labels import KnownFault, Labels
from paramedic.models.history import JobHistory

START = 10_000


class Loud:
    """Accuses every machine whose value is above the threshold (a FaultyMachineDetector)."""

    name = "loud"
    thresholds: Sequence[float] = (-1.0, 0.5, 50.0)

    def train(self, histories: Iterable[JobHistory]) -> None:
        """It knows all it will ever know."""

    def examine(self, history: JobHistory) -> LoudExamination:
        """Nothing to prepare."""
        return LoudExamination(history)


class LoudExamination:
    def __init__(self, history: JobHistory) -> None:
        self._history = history

    def alarms(self, threshold: float) -> list[Alarm]:
        values = self._history.windows[Entity.NODE].values[:, 0]
        first = [(int((row > threshold).argmax()), at) for at, row in enumerate(values)
                 if (row > threshold).any()]  # fmt: skip
        nodes = self._history.nodes
        return [Alarm(START + slot, (nodes[at],), 1.0) for slot, at in sorted(first)]


def recording(job: str, broken: int | None) -> LabelledHistory:
    """Four machines of which one may have stood out for the last half minute."""
    values = np.zeros((4, 1, 60), np.float32)
    nodes = [NodeName(f"n{at}") for at in range(4)]
    faults: tuple[KnownFault, ...] = ()
    if broken is not None:
        values[broken, 0, 30:] = 1.0
        faults = (KnownFault("ecc_error", (nodes[broken],), START + 28),)
    rows = tuple(EntityKey(Entity.NODE, node) for node in nodes)
    window = Window(
        JobName(job), 0, Entity.NODE, START, rows, ("m",), values, np.ones_like(values, np.bool_)
    )
    return LabelledHistory(job, JobHistory(JobName(job), {Entity.NODE: window}), Labels(faults))


def test_the_threshold_is_chosen_on_one_half_and_used_on_the_other() -> None:
    validation = [recording("a", 1), recording("b", None)]
    test = [recording("c", 2), recording("d", None)]
    (row,) = compare([Loud()], validation, test, clock=lambda: 0.0)
    assert (row.detector, row.threshold, row.f1) == ("loud", 0.5, 1.0)
    assert (row.episodes, row.healthy_false_alarms, row.delay_p50_seconds) == (1, 0, 3.0)


def test_facts_are_those_of_the_labels() -> None:
    facts = facts_of(recording("a", 3), Part.TEST)
    assert (facts.nodes, facts.seconds, facts.first_second) == (4, 60, START)
    assert [(one.kind, one.nodes, one.onset) for one in facts.faults] == [
        ("ecc_error", ("n3",), START + 28)
    ]


def test_both_halves_have_to_be_there() -> None:
    with pytest.raises(ValueError, match="both have to be there"):
        compare([Loud()], [recording("a", 1)], [])
