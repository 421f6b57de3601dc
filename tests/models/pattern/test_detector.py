"""The detector names who departs, the same whatever comes later, and nobody in healthy jobs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from models.pattern.fitted import healthy, small_model
from models.pattern.made_up import FIRST, gpu_values, history_of
from paramedic.models.history import JobHistory
from paramedic.models.pattern.detector import (
    PatternDetector,
    PatternExamination,
    pattern_detectors,
)
from paramedic.models.pattern.errors import TrainingError
from paramedic.models.pattern.evidence import Evidence
from paramedic.models.pattern.settings import PatternSettings

SETTINGS = PatternSettings(accused_share=0.5, largest_crowd_share=0.34)
ONSET = 90
THRESHOLD = 25.0


def broken(*rows: int, nodes: int = 6) -> JobHistory:
    values = gpu_values(nodes, 150, seed=9)
    values[list(rows), 1, ONSET:] *= 0.5
    return history_of(values)


def examined(nats: NDArray[np.float64]) -> PatternExamination:
    nodes = history_of(gpu_values(nats.shape[1], 1)).nodes
    gpu = np.full(nats.shape, -1, np.int16)
    seconds = range(FIRST, FIRST + len(nats))
    return PatternExamination(nodes, seconds, Evidence(nats, gpu), SETTINGS)


@pytest.mark.long
def test_a_card_that_loses_half_of_its_work_is_named_within_seconds() -> None:
    first = PatternDetector(small_model()).examine(broken(5)).alarms(THRESHOLD)[0]
    assert (first.nodes, first.gpu) == (("node-0003",), 1)
    assert ONSET < first.second - FIRST < ONSET + 45


@pytest.mark.long
def test_a_machine_whose_rows_vanish_is_named() -> None:
    values = gpu_values(6, 150, seed=9)
    values[4:6, :, ONSET:] = np.nan
    first = PatternDetector(small_model()).examine(history_of(values)).alarms(THRESHOLD)[0]
    assert first.nodes == ("node-0003",)


@pytest.mark.long
def test_healthy_machines_are_not_named() -> None:
    assert PatternDetector(small_model()).examine(healthy(31, 150)).alarms(THRESHOLD) == []


@pytest.mark.long
def test_two_broken_machines_are_both_named() -> None:
    alarms = PatternDetector(small_model()).examine(broken(2, 16, nodes=12)).alarms(THRESHOLD)
    assert {node for one in alarms for node in one.nodes} == {"node-0002", "node-0009"}


@pytest.mark.long
def test_a_history_that_is_cut_gives_the_same_alarms_up_to_there() -> None:
    detector, history = PatternDetector(small_model()), broken(5)
    whole = detector.examine(history).alarms(THRESHOLD)
    for slots in (97, 120):
        second = FIRST + slots
        cut = detector.examine(history.until(second)).alarms(THRESHOLD)
        assert cut == [one for one in whole if one.second <= second]


@pytest.mark.long
def test_metrics_that_are_missing_or_unknown_are_done_without() -> None:
    history = broken(5)
    windows = {
        entity: replace(
            window,
            metrics=("gpu_tensor_active_ratio", "vendor_share_ratio"),
            values=window.values[:, [1, 1]],
            observed=window.observed[:, [1, 1]],
        )
        for entity, window in history.windows.items()
    }
    first = (
        PatternDetector(small_model()).examine(replace(history, windows=windows)).alarms(THRESHOLD)
    )
    assert first[0].nodes == ("node-0003",)


@pytest.mark.long
def test_every_ablation_shares_one_training_and_still_examines() -> None:
    detectors = pattern_detectors(small_model())
    assert len({one.name for one in detectors}) == 6
    for one in detectors:
        named = one.examine(broken(5)).alarms(THRESHOLD)
        assert ("node-0003",) in [alarm.nodes for alarm in named]


def test_without_a_model_there_is_no_examination() -> None:
    with pytest.raises(TrainingError, match="no model yet"):
        PatternDetector().examine(healthy(1))


@pytest.mark.long
def test_nothing_observed_is_nobody_accused() -> None:
    nothing = JobHistory(healthy(1).job, {})
    assert PatternDetector(small_model()).examine(nothing).alarms(20.0) == []


def test_who_goes_on_being_accused_is_told_once_and_after_a_quiet_minute_again() -> None:
    nats = np.zeros((300, 6))
    nats[10:100, 2] = nats[130:150, 2] = nats[250:, 2] = 90.0
    alarms = examined(nats).alarms(50.0)
    assert [one.second - FIRST for one in alarms] == [10, 250]


def test_machines_with_far_less_evidence_than_the_worst_are_its_victims() -> None:
    nats = np.zeros((3, 6))
    nats[:, 2], nats[:, 4] = 200.0, 80.0
    assert [one.nodes for one in examined(nats).alarms(50.0)] == [("node-0003",)]


def test_alike_machines_are_named_together_unless_they_are_a_crowd() -> None:
    nats = np.zeros((1, 6))
    nats[0, [1, 4]] = 90.0
    assert examined(nats).alarms(50.0)[0].nodes == ("node-0002", "node-0005")
    nats[0, 2] = 90.0
    assert examined(nats).alarms(50.0) == []
