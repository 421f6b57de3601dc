"""The step of a running job, as the launcher sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from paramedic.ingest.contract import Event, EventKind, JobName, NodeName
from paramedic.remediation.bookkeeping import Bookkeeping
from paramedic.remediation.following import StepFollower, newest_step
from paramedic.remediation.launchers.in_memory import InMemoryLauncher
from paramedic.remediation.launchers.port import Placement
from paramedic.remediation.store.store import Store

At = Callable[[float], datetime]
BuildEvent = Callable[..., Event]
LLAMA = JobName("llama")


class TellingLauncher(InMemoryLauncher):
    """One whose ranks have all done the same step."""

    step: int | None = None

    def observe(self, job: JobName) -> tuple[Placement, ...]:
        return tuple(replace(each, step=self.step) for each in super().observe(job))


@pytest.fixture
def launcher() -> TellingLauncher:
    return TellingLauncher(LLAMA, ranks=2, spares=1)


def step_of(store: Store) -> int | None:
    with store.reading() as view:
        job = view.jobs.get(LLAMA)
    assert job is not None
    return job.step


def place(rank: int | None, step: int | None) -> Placement:
    return Placement(NodeName("node-0000"), rank, None, 0, step)


@pytest.mark.parametrize(
    ("placements", "step"),
    [
        ([], None),
        ([place(0, None), place(None, 9)], None),
        ([place(0, 11), place(1, 12), place(2, None), place(None, 99)], 12),
    ],
)
def test_the_newest_step_is_that_of_the_ranks(
    placements: Sequence[Placement], step: int | None
) -> None:
    assert newest_step(placements) == step


def test_the_step_of_a_running_job_moves_between_its_events(
    store: Store, launcher: TellingLauncher, event_of: BuildEvent, at: At
) -> None:
    Bookkeeping(store).take(event_of(0, EventKind.JOB_STATE, state="training", step=0))
    follower = StepFollower(store, launcher)
    follower.follow(at(1))
    assert step_of(store) == 0
    launcher.step = 7
    follower.follow(at(2))
    assert step_of(store) == 7
    launcher.is_reachable = False
    follower.follow(at(3))
    assert step_of(store) == 7


def test_an_event_that_is_newer_than_what_was_seen_stays(
    store: Store, launcher: TellingLauncher, event_of: BuildEvent, at: At
) -> None:
    Bookkeeping(store).take(event_of(5, EventKind.JOB_STATE, state="training", step=40))
    launcher.step = 39
    StepFollower(store, launcher).follow(at(4))
    assert step_of(store) == 40


def test_nobody_is_asked_about_a_job_that_is_over(
    store: Store, launcher: TellingLauncher, event_of: BuildEvent, at: At
) -> None:
    Bookkeeping(store).take(event_of(0, EventKind.JOB_STATE, state="finished", step=40))
    launcher.step = 7
    StepFollower(store, launcher).follow(at(1))
    assert step_of(store) == 40
