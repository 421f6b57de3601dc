"""Scores do not depend on how many slots are handed over at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from models.pattern.fitted import SMALL, healthy, small_model
from paramedic.ingest.contract import Entity
from paramedic.models.history import JobHistory
from paramedic.models.pattern.scorer import PatternReader
from paramedic.models.pattern.settings import PatternSettings

SLOTS = 90
SETTINGS = SMALL.pattern
pytestmark = pytest.mark.long  # a model is trained


def history() -> JobHistory:
    """A row departs, and some of another is not observed."""
    made = healthy(5, SLOTS)
    values = made.windows[Entity.GPU].values.copy()
    values[3, 1, 40:] *= 0.6
    values[7, 0, 20:70:3] = np.nan
    seen = ~np.isnan(values)
    window = replace(made.windows[Entity.GPU], values=values, observed=seen)
    return JobHistory(made.job, {Entity.GPU: window}, made.description)


def scores(*edges: int, settings: PatternSettings = SETTINGS) -> list[NDArray[np.float32]]:
    """By panel, of slots that are handed over from edge to edge."""
    observed = history()
    scorer = PatternReader(small_model(), settings).scorer(observed.windows, observed.description)
    parts = [scorer.advance(observed.windows, slice(a, b)) for a, b in pairwise((0, *edges, SLOTS))]
    return [np.concatenate(panel) for panel in zip(*parts, strict=True)]


@pytest.mark.parametrize("edges", [tuple(range(1, SLOTS)), tuple(range(10, SLOTS, 10)), (7, 61)])
def test_slots_one_by_one_or_many_at_once_are_scored_alike(edges: tuple[int, ...]) -> None:
    for cut, whole in zip(scores(*edges), scores(), strict=True):
        np.testing.assert_allclose(cut, whole, atol=1e-4)


def test_the_network_has_a_word_of_its_own() -> None:
    quiet = scores(settings=replace(SETTINGS, use_network=False))
    assert any((a != b).any() for a, b in zip(scores(), quiet, strict=True))


def test_who_departs_is_odd_and_what_was_not_observed_is_not() -> None:
    cards = scores()[0]
    assert cards[60:, 1, 3].min() > 4
    assert cards[20:70:3, 0, 7].max() == 0
