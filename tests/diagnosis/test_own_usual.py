"""What ranks have differed by all along, and of whom it is not learned anew."""

from __future__ import annotations

import numpy as np

from paramedic.diagnosis.own_usual import OwnUsual
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.contract import AnomalyScores

NODES = (NodeName("node-a"), NodeName("node-b"))
ROWS = tuple(EntityKey(Entity.RANK, node, at) for at, node in enumerate(NODES))


def window_of(rows: tuple[EntityKey, ...], *metrics: str) -> Window:
    empty = np.zeros((len(rows), len(metrics), 1))
    return Window(JobName("job"), 0, Entity.RANK, 1, rows, metrics, empty, empty > 0)


def noted(usual: OwnUsual, *own: float) -> OwnUsual:
    shares, nothing = np.array([[one] for one in own]), np.zeros((2, 1))
    usual.note(AnomalyScores(1, ROWS, ("compute_seconds",), nothing, nothing, nothing, shares))
    return usual


def test_while_nobody_is_accused_all_is_learned() -> None:
    usual = noted(OwnUsual(), 0.1, 0.0)
    assert usual.held(window_of(ROWS, "compute_seconds"), ()) is None


def test_of_the_accused_what_was_known_before_is_kept_however_long_it_goes_on() -> None:
    usual = noted(OwnUsual(), 0.1, 0.0)
    window = window_of(ROWS[::-1], "step_seconds", "compute_seconds")
    for _ in range(3):
        held = usual.held(window, {NODES[0]})
        assert held is not None
        np.testing.assert_array_equal(held, [[np.nan, np.nan], [np.nan, 0.1]])
        noted(usual, 0.15, 0.0)


def test_who_is_well_again_is_learned_anew() -> None:
    usual, window = noted(OwnUsual(), 0.1, 0.0), window_of(ROWS, "compute_seconds")
    usual.held(window, {NODES[0]})
    assert usual.held(window, ()) is None
    noted(usual, 0.02, 0.0)
    again = usual.held(window, {NODES[0]})
    assert again is not None
    assert again[0, 0] == 0.02
