"""What it costs that a machine works differently, and what is borne."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.test_chores import CPU, LATENCY, TENSOR, departure, window
from paramedic.diagnosis.cost import BORNE_SECONDS, Cost


def cost(own: float = 0.0, job: float | None = None, disk: float = 1.0) -> Cost:
    return Cost(own, job, disk)


def test_work_that_is_lost_adds_up_since_it_began() -> None:
    one = departure(TENSOR, seconds=50)
    assert Cost.of(one, window(0.8)).own_seconds == pytest.approx(10.0, rel=0.01)
    assert Cost.of(one, window(0.99)).own_seconds == 0


@pytest.mark.parametrize(("share", "seconds"), [(None, None), (0.0, 0.0), (0.25, 20.0)])
def test_what_the_job_has_lost_is_its_share_of_the_time_since(
    share: float | None, seconds: float | None
) -> None:
    one = replace(departure(CPU, seconds=81), job_lost_share=share)
    found = Cost.of(one, window())
    assert found.job_seconds == seconds
    assert found.is_known_of_job == (share is not None)


def test_disks_are_compared_with_those_of_others() -> None:
    assert Cost.of(departure(LATENCY), window(3.0)).times_slower_disk == pytest.approx(3.0)
    assert Cost.of(departure(CPU), window(3.0)).times_slower_disk == 1.0


@pytest.mark.parametrize(
    ("share", "seconds", "is_borne"),
    [(0.09, 120, True), (0.11, 120, False), (0.09, 240, False)],
    ids=["a little", "more", "too long"],
)
def test_less_than_a_tenth_of_the_jobs_work_is_borne_as_long_as_a_chore_takes(
    share: float, seconds: int, *, is_borne: bool
) -> None:
    one = replace(departure(CPU, seconds=seconds), job_lost_share=share)
    assert Cost.of(one, window()).is_borne_by_job is is_borne


@pytest.mark.parametrize(
    ("one", "lost", "is_borne"),
    [
        (cost(), 0.0, True),
        (cost(own=BORNE_SECONDS - 1, job=BORNE_SECONDS - 2), BORNE_SECONDS - 1, True),
        (cost(own=BORNE_SECONDS), BORNE_SECONDS, False),
        (cost(job=BORNE_SECONDS), BORNE_SECONDS, False),
        (cost(disk=4.0), 0.0, False),
    ],
    ids=["nothing", "a little", "the machine's work", "the job's work", "the disks' time"],
)
def test_little_is_borne_of_each(one: Cost, lost: float, *, is_borne: bool) -> None:
    assert one.lost_seconds == lost
    assert one.is_borne is is_borne


def test_each_is_asked_for_by_itself_too() -> None:
    assert not cost(own=9.0).is_borne_by_itself
    assert cost(own=9.0).is_borne_by_job
    assert not cost(job=9.0).is_borne_by_job
    assert not cost(disk=5.0).is_borne_by_disks
