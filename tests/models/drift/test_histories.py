"""Drift of whole histories, read as training reads them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.drift.histories import drift_of
from paramedic.models.drift.reference import Quantity
from paramedic.models.drift.watch import DriftConfig
from paramedic.models.history import JobHistory
from paramedic.models.pattern.artifact import PatternArtifact
from paramedic.models.pattern.network import PatternNetwork
from paramedic.models.pattern.settings import PatternSettings
from paramedic.models.pattern.surprise import weights_of

NODES = 8
JOB = JobName("j")
SETTINGS = PatternSettings()


@pytest.fixture(scope="module")
def weights() -> dict[str, np.ndarray]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return weights_of(PatternNetwork(SETTINGS))


def history(slots: int = 160, metric: str = "load_average", first: int = 1000) -> JobHistory:
    """Nodes that are all alike but for noise."""
    values = np.random.default_rng(first).normal(50, 2, (NODES, 1, slots)).astype(np.float32)
    rows = tuple(EntityKey(Entity.NODE, NodeName(f"n{at}")) for at in range(NODES))
    window = Window(
        JOB, 0, Entity.NODE, first, rows, (metric,), values, np.ones(values.shape, bool)
    )
    return JobHistory(JOB, {Entity.NODE: window})


def artifact(weights: dict[str, np.ndarray], middle: float) -> PatternArtifact:
    """Half of training lay below the middle."""
    told = {"input_q50": middle, "score_q50": 0.0}
    return PatternArtifact(
        SETTINGS.as_mapping(), weights, ("load_average",), {"load_average": told}
    )


def test_every_row_is_looked_at_once_in_a_short_history(weights: dict[str, np.ndarray]) -> None:
    report = drift_of(artifact(weights, 0.0), [history()])
    assert [(one.metric, one.quantity, one.samples) for one in report.metrics] == [
        ("load_average", quantity, NODES) for quantity in Quantity
    ]
    assert (report.first_second, report.seconds) == (1000, 160)


@pytest.mark.long
@pytest.mark.parametrize(("middle", "has_drifted"), [(0.0, False), (3.0, True)])
def test_inputs_are_compared_with_those_of_training(
    weights: dict[str, np.ndarray], middle: float, has_drifted: bool
) -> None:
    config = DriftConfig(every_slots=20)
    report = drift_of(artifact(weights, middle), [history(), history(first=5000)], config)
    moved = {one.quantity: one for one in report.metrics}[Quantity.INPUT]
    assert moved.samples == 2 * NODES * 5
    assert moved.has_drifted is has_drifted


def test_metrics_that_the_model_never_saw_are_new_and_its_own_are_missing(
    weights: dict[str, np.ndarray],
) -> None:
    report = drift_of(artifact(weights, 0.0), [history(100, "memory_used_ratio")])
    assert report.metrics == ()
    assert (report.fit.missing, report.fit.new) == (("load_average",), ("memory_used_ratio",))


def test_a_history_that_is_too_short_says_nothing(weights: dict[str, np.ndarray]) -> None:
    report = drift_of(artifact(weights, 0.0), [history(30), JobHistory(JOB, {})])
    assert (report.metrics, report.drifted) == ((), ())
