"""Loss and gradients: what goes wrong is told once, and healthy noise never."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.application.training import Training, healthy_row
from diagnosis.synthetic import START, job_state
from paramedic.diagnosis.contract import Fault, Phase, Scope, Severity, Status, Tier


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10_000),
    scale=st.floats(1e-6, 1e6),
    noise=st.floats(0.0, 0.2),
    steps=st.integers(1, 160),
    falls=st.floats(0.0, 0.9),
)
def test_a_healthy_noisy_curve_of_any_scale_and_length_is_nothing_to_tell_of(
    seed: int, scale: float, noise: float, steps: int, falls: float
) -> None:
    training, rng = Training(), np.random.default_rng(seed)
    for step in range(steps):
        loss = scale * (1 - falls + falls / (1 + step / 20)) * math.exp(noise * rng.normal())
        training.tell({"step": float(step), "loss": loss, "gradient_norm": scale * rng.gamma(8)})
    assert training.said == []


@settings(max_examples=10)
@given(
    at=st.integers(0, 60),
    lasts=st.integers(1, 40),
    metric=st.sampled_from(["loss", "gradient_norm"]),
    rank=st.integers(0, 3),
)
def test_what_is_no_number_is_told_at_once_and_once(
    at: int, lasts: int, metric: str, rank: int
) -> None:
    training, rng = Training(), np.random.default_rng(at)
    for step in range(at + lasts + 8):
        rows = [healthy_row(step, rng) for _ in range(4)]
        if at <= step < at + lasts:
            rows[rank][metric] = math.inf
        training.tell({}, rows)
    told = training.only()
    assert told.detected_at.timestamp() == START + at
    assert (told.phase, told.severity) == (Phase.FAILED, Severity.P1)
    assert "no number" in told.summary
    assert training.said[-1].status is Status.RESOLVED


def spike(step: int) -> dict[str, float]:
    """Ten steps of a loss that is twice as high."""
    return {"loss": 8.0} if 100 <= step < 110 else {"loss": 4.0 + 0.05 * (step % 3)}


def test_a_loss_that_jumps_is_one_verdict_about_the_job_with_its_numbers() -> None:
    training = Training()
    training.go_on(range(140), spike)
    fired, resolved = training.said
    assert (fired.fault, fired.scope, fired.tier) == (
        Fault.LOSS_DIVERGENCE,
        Scope.JOB,
        Tier.APPLICATION,
    )
    assert (fired.node, fired.severity, fired.phase) == (None, Severity.P1, Phase.DEGRADED)
    assert fired.onset.timestamp() == START + 100
    assert fired.detected_at.timestamp() <= START + 104
    assert fired.evidence[0].metric == "loss"
    assert (fired.evidence[0].value, fired.evidence[0].peers) == (8.0, 4.05)
    assert (resolved.id, resolved.status) == (fired.id, Status.RESOLVED)
    assert resolved.detected_at.timestamp() <= START + 115


def test_a_loss_that_stays_high_keeps_its_verdict() -> None:
    training = Training()
    training.go_on(range(300), lambda step: {"loss": 4.0 if step < 100 else 7.0})
    assert [one.status for one in training.said] == [Status.FIRING]


@pytest.mark.long
def test_a_slow_rise_does_not_become_usual() -> None:
    training = Training()
    training.go_on(range(500), lambda step: {"loss": 3.0 * math.exp(max(0, step - 200) / 400)})
    assert training.firing() == [Fault.LOSS_DIVERGENCE]


def test_a_single_odd_batch_is_nothing_to_tell_of() -> None:
    training = Training()
    training.go_on(
        range(150), lambda step: {"loss": 12.0, "gradient_norm": 9.0} if step == 90 else {}
    )
    assert training.said == []


def test_gradients_that_explode_come_first_and_the_loss_makes_it_worse() -> None:
    def explode(step: int) -> dict[str, float]:
        after = max(0, step - 80)
        return {"gradient_norm": 0.3 * 3.0**after, "loss": 9.0 if after > 6 else 4.0}

    training = Training()
    training.go_on(range(95), explode)
    fired, *worse = training.said
    assert (fired.fault, fired.status) == (Fault.GRADIENT_EXPLOSION, Status.FIRING)
    assert {one.status for one in worse} == {Status.UPDATED}
    assert {one.id for one in worse} == {fired.id}
    assert worse[-1].fault is Fault.LOSS_DIVERGENCE


def without(step: int, *, every: int = 1) -> dict[str, float]:
    """Steps of which every so many-th tells its loss, until none does."""
    absent = step >= 80 or step % every
    return {"loss": math.nan, "gradient_norm": math.nan} if absent else {}


def test_a_loss_that_is_not_told_any_more_while_steps_go_on_is_told_once() -> None:
    training = Training()
    training.go_on([*range(100)], without)
    training.go_on(range(100, 110))
    fired, resolved = training.said
    assert (fired.fault, fired.onset.timestamp()) == (Fault.LOSS_DIVERGENCE, START + 80)
    assert fired.detected_at.timestamp() - START <= 86
    assert (fired.evidence[0].value, resolved.status) == (None, Status.RESOLVED)


def test_a_loss_that_comes_now_and_then_may_be_absent_for_longer() -> None:
    training = Training()
    training.go_on(range(110), lambda step: without(step, every=8))
    assert training.said == []


def test_a_slot_that_repeats_a_step_says_nothing_new() -> None:
    training = Training()
    training.go_on(range(60))
    for _ in range(60):
        training.go_on([60], lambda _: {"loss": 9.0})
    assert training.said == []


def test_a_job_that_goes_back_to_an_early_checkpoint_may_have_its_loss_again() -> None:
    training = Training()
    training.go_on([*range(200, 300), *range(100)])
    assert training.said == []


@pytest.mark.parametrize("state", ["evaluating", "checkpointing", "recovering", "resizing"])
def test_what_a_job_tells_while_it_does_not_train_is_not_judged(state: str) -> None:
    training = Training()
    training.hear(job_state("training", 0))
    training.go_on(range(60))
    training.hear(job_state(state, 60))
    training.go_on(range(60, 90), lambda _: {"loss": 50.0})
    assert training.said == []


def test_a_loss_below_zero_is_compared_as_it_is() -> None:
    training, rng = Training(), np.random.default_rng(0)
    for step in range(120):
        loss = -5.0 + 0.01 * rng.normal() + (4.0 if step >= 100 else 0.0)
        training.tell({"step": float(step), "loss": loss})
    assert training.firing() == [Fault.LOSS_DIVERGENCE]


def test_a_copy_goes_on_as_the_original_does() -> None:
    training = Training()
    training.go_on(range(102), spike)
    copied = training.resumed()
    for one in (training, copied):
        one.go_on(range(102, 140), spike)
    assert training.said == copied.said != []
