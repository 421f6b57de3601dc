"""What a slot says of the job as a whole, and settings that contradict each other."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from diagnosis.synthetic import JOB, START, node_name
from paramedic.diagnosis.application.reading import JobSlot, job_slot
from paramedic.diagnosis.application.settings import ApplicationSettings
from paramedic.ingest.contract import Entity, EntityKey, Window

NAN, INF = math.nan, math.inf


def slot_of(**columns: list[float]) -> JobSlot | None:
    """The slot of a window whose older slots hold something else."""
    ranks = max((len(column) for column in columns.values()), default=0)
    rows = tuple(EntityKey(Entity.RANK, node_name(rank), rank) for rank in range(ranks))
    values = np.full((ranks, len(columns), 3), 77.0)
    for at, column in enumerate(columns.values()):
        values[:, at, -1] = column
    observed = ~np.isnan(values)
    return job_slot(Window(JOB, 0, Entity.RANK, START, rows, tuple(columns), values, observed))


def told(**columns: list[float]) -> JobSlot:
    slot = slot_of(**columns)
    assert slot is not None
    return slot


def test_the_median_of_the_ranks_that_tell_something_counts() -> None:
    slot = told(step=[5, 6, NAN, 6], loss=[2.0, NAN, NAN, NAN], learning_rate=[1, 2, 3, NAN])
    assert (slot.second, slot.step, slot.loss, slot.learning_rate) == (START + 2, 6, 2.0, 2)
    assert math.isnan(slot.gradient_norm)


def test_one_rank_without_a_number_is_the_whole_jobs_matter() -> None:
    slot = told(loss=[2.0, 2.0, 2.0, INF], gradient_norm=[1.0, 1.0, NAN, 1.0])
    assert (slot.loss, slot.gradient_norm) == (INF, 1.0)


def test_a_time_or_a_step_that_is_no_number_says_nothing_of_the_job() -> None:
    slot = told(step=[INF, 6.0, 5.0], step_seconds=[INF, 2.0, 2.0], dataloader_seconds=[INF, 1, 1])
    assert (slot.step, slot.loading_share) == (6.0, 0.5)
    assert math.isnan(told(step=[INF, INF]).step)


def test_the_share_of_loading_is_each_ranks_own() -> None:
    slot = told(step_seconds=[1.0, 2.0, 0.0], dataloader_seconds=[0.5, 1.0, 0.7])
    assert slot.loading_share == 0.5


def test_a_share_without_the_whole_is_not_known() -> None:
    assert math.isnan(told(dataloader_seconds=[0.5]).loading_share)
    assert math.isnan(told(dataloader_seconds=[0.5, NAN], step_seconds=[NAN, 1]).loading_share)


@pytest.mark.parametrize("columns", [{}, {"heartbeat": [1.0, 2.0]}, {"loss": [NAN, NAN]}])
def test_ranks_that_tell_nothing_of_their_training_say_nothing(
    columns: dict[str, list[float]],
) -> None:
    assert slot_of(**columns) is None


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda: ApplicationSettings(false_alarms_per_job_day=0), "false_alarms_per_job_day"),
        (lambda: ApplicationSettings(least_loss_ratio=0.9), "least_loss_ratio"),
        (lambda: ApplicationSettings(grave_loss_ratio=1.1), "grave_loss_ratio"),
        (lambda: ApplicationSettings(least_drop_share=0.7), "least_drop_share"),
        (lambda: ApplicationSettings(grave_stall_share=1.0), "grave_stall_share"),
    ],
)
def test_the_message_names_the_setting(wrong: Callable[[], object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        wrong()
