"""Jumps of learning rate and batch: schedules are none, however they look."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.application.training import Training
from diagnosis.synthetic import START, job_state
from paramedic.diagnosis.application.settings import ApplicationSettings
from paramedic.diagnosis.contract import Fault, Severity, Status

Schedule = Callable[[int], float]

SCHEDULES: dict[str, Schedule] = {
    "warm-up": lambda step: 1e-7 * (step + 1),
    "many steps a slot": lambda step: 1e-7 * (25 * step + 1),
    "cosine to nothing": lambda step: 1e-3 * (1 + math.cos(math.pi * step / 199)) / 2,
    "straight to nothing": lambda step: 1e-3 * (1 - step / 199),
    "steps of a tenth": lambda step: 1e-3 * 0.1 ** (step // 60),
    "steps of a half": lambda step: 1e-3 * 0.5 ** (step // 20),
    "epochs of a warm-up": lambda step: 1e-4 * min(1 + step // 20, 5),
    "warm-up anew": lambda step: 1e-3 if step < 80 else 1e-5 * min(step - 79, 100),
    "nothing at first": lambda step: 0.0 if step < 20 else 1e-4,
}


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_a_schedule_is_no_jump(schedule: Schedule) -> None:
    training = Training()
    training.go_on(range(200), lambda step: {"learning_rate": schedule(step)})
    assert training.said == []


@settings(max_examples=10)
@given(at=st.integers(8, 60), factor=st.floats(3.0, 1000.0), falls=st.booleans())
def test_a_rate_that_jumps_up_is_told_once(at: int, factor: float, falls: bool) -> None:
    def rate(step: int) -> dict[str, float]:
        usual = 1e-3 * (0.999**step if falls else 1.0)
        return {"learning_rate": usual * (factor if step >= at else 1.0)}

    training = Training()
    training.go_on(range(at + 20), rate)
    told = training.only()
    assert (told.fault, told.severity) == (Fault.CONFIGURATION_JUMP, Severity.P1)
    assert told.onset.timestamp() == START + at
    assert told.evidence[0].metric == "learning_rate"


def test_a_warm_up_with_a_hole_is_no_jump() -> None:
    training = Training()
    steps = [*range(8), *range(80, 120)]
    training.go_on(steps, lambda step: {"learning_rate": 1e-8 * (step + 1)})
    assert training.said == []


@pytest.mark.parametrize("after", [1024.0 * 3, 16.0])
def test_a_batch_that_nobody_resized_is_told(after: float) -> None:
    training = Training()
    training.go_on(range(80), lambda step: {"global_batch_size": after if step > 50 else 512.0})
    told = training.only()
    assert "global batch has jumped from 512" in told.summary
    assert told.severity is (Severity.P1 if after > 512 else Severity.P2)


def test_a_batch_that_grows_or_ends_an_epoch_is_no_jump() -> None:
    training = Training()
    training.go_on(
        range(150),
        lambda step: {"global_batch_size": 7.0 if step % 40 == 39 else 16.0 * (1 + step // 30)},
    )
    assert training.said == []


def test_after_a_resize_another_batch_is_the_right_one() -> None:
    training = Training()
    training.hear(job_state("training", 0))
    training.go_on(range(60))
    training.hear(job_state("resizing", 60))
    training.generation = 1
    training.hear(job_state("training", 62, generation=1))
    training.go_on(range(60, 120), lambda _: {"global_batch_size": 64.0, "learning_rate": 1e-3})
    assert training.said == []


def test_a_rate_that_is_taken_back_is_resolved() -> None:
    training = Training()
    training.go_on(range(120), lambda step: {"learning_rate": 1e-2 if 60 <= step < 90 else 1e-3})
    fired, resolved = training.said
    assert (resolved.id, resolved.status) == (fired.id, Status.RESOLVED)
    assert resolved.detected_at.timestamp() == START + 93


def test_a_rate_that_is_kept_is_accepted_and_the_next_jump_is_told() -> None:
    training = Training(ApplicationSettings(jump_accepted_seconds=30))
    training.go_on(range(200), lambda step: {"learning_rate": 1e-4 * 10.0 ** (step // 80)})
    assert [one.status for one in training.said] == [
        Status.FIRING, Status.RESOLVED, Status.FIRING, Status.RESOLVED
    ]  # fmt: skip


def test_a_rate_that_the_job_has_had_before_is_less_grave() -> None:
    def restarts(step: int) -> dict[str, float]:
        return {"learning_rate": 1e-3 * (1 - (step % 60) / 61)}

    training = Training()
    training.go_on(range(80), restarts)
    assert training.only().severity is Severity.P2
