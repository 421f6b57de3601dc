"""What of a window is compared: nothing of a pause, no step twice, and no number that is none."""

from __future__ import annotations

import math

import numpy as np

from diagnosis.synthetic import JOB, START, job_state, node_name
from paramedic.diagnosis.comparable import comparable_part
from paramedic.diagnosis.picture import JobPicture
from paramedic.diagnosis.settings import StragglerSettings
from paramedic.ingest.contract import Entity, EntityKey, Window

METRICS = ("step", "compute_seconds", "loss")
SLOTS, BEGAN = 20, 4


def part(*, infinite_step: int | None = None) -> Window:
    """Of two ranks that end a step in every second slot; the second calls its times infinite."""
    rows = tuple(EntityKey(Entity.RANK, node_name(rank), rank) for rank in range(2))
    values = np.empty((2, 3, SLOTS))
    values[:, 0] = np.arange(SLOTS) // 2
    values[0, 1:], values[1, 1:] = 0.5, math.inf
    if infinite_step is not None:
        values[:, 0, infinite_step] = math.inf
    observed = np.ones(values.shape, np.bool_)
    window = Window(JOB, 0, Entity.RANK, START, rows, METRICS, values, observed)
    picture = JobPicture()
    picture.see(START, 0)
    picture.record(job_state("training", BEGAN))
    settings = StragglerSettings()
    return comparable_part(window, picture, settings, ("step", "compute_seconds"))


def compared(one: Window, rank: int = 0) -> list[int]:
    """The slots in which the rank's time counts."""
    return np.flatnonzero(one.observed[rank, one.metrics.index("compute_seconds")]).tolist()


def test_only_the_judged_metrics_in_slots_with_a_new_step_are_compared() -> None:
    one = part()
    assert one.metrics == ("step", "compute_seconds")
    slots = compared(one)
    assert slots == list(range(slots[0], SLOTS, 2))
    assert slots[0] > BEGAN


def test_what_a_rank_calls_infinite_is_not_compared() -> None:
    one = part()
    assert compared(one, 1) == []
    assert not np.isinf(one.values).any()


def test_a_step_that_is_no_number_hides_none_that_comes_after() -> None:
    assert compared(part(infinite_step=12))[-3:] == compared(part())[-3:] == [14, 16, 18]
