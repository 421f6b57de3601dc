"""How far an action has come survives a crash, and the waits grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from paramedic.diagnosis.contract import RecommendedAction
from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.contract import Action, ActionState
from paramedic.remediation.progress import Progress

At = Callable[[float], datetime]


@pytest.fixture
def progress(at: At) -> Progress:
    return Progress(JobName("llama"), 3, "V1", at(5), "it is stuck")


def action_with(progress: Progress) -> Action:
    return Action(
        id="a",
        incident="i",
        kind=RecommendedAction.REPLACE_RANK,
        target=NodeName("node-0001"),
        launcher="in_memory",
        state=ActionState.ACTING,
        dry_run=False,
        idempotency_key="k",
        requested_by="policy",
        details=progress.to_details(),
    )


def test_it_reads_back_as_it_was_written(progress: Progress, at: At) -> None:
    full = replace(progress, attempts=4, not_before=at(6.5), applied_at=at(7))
    assert Progress.of(action_with(progress)) == progress
    assert Progress.of(action_with(full)) == full


def test_each_failure_waits_twice_as_long_up_to_a_limit(progress: Progress, at: At) -> None:
    waits = []
    for _ in range(6):
        progress = progress.begun().postponed(at(0), first_seconds=0.5, longest_seconds=5.0)
        assert progress.not_before is not None
        waits.append(progress.not_before - at(0))
    assert [wait / timedelta(seconds=1) for wait in waits] == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]


def test_a_thousand_failures_do_not_overflow(progress: Progress, at: At) -> None:
    tired = replace(progress, attempts=5000).postponed(at(0), 0.5, 30.0)
    assert tired.not_before == at(30)


def test_a_new_call_forgets_the_wait(progress: Progress, at: At) -> None:
    again = progress.begun().postponed(at(0), 1.0, 1.0).begun()
    assert (again.attempts, again.not_before) == (2, None)
