"""Wherever a run is disturbed, it ends bit for bit as the undisturbed one, with the same draws."""

from __future__ import annotations

import copy
import functools
import random
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.remediation.trainer.attempts import Attempts
from paramedic.remediation.trainer.collective_log import CollectiveLog
from paramedic.remediation.trainer.errors import GenerationBrokenError
from paramedic.remediation.trainer.mailbox import Mailbox
from paramedic.remediation.trainer.protected_state import ProtectedState, Stateful
from paramedic.remediation.trainer.state_encoding import decode_state, encode_state
from paramedic.remediation.trainer.step_meter import StepMeter
from paramedic.remediation.trainer.step_times import SecondOfSteps
from remediation.trainer.imagined_job import ImaginedControl, ImaginedMembership

pytestmark = pytest.mark.long


STEPS = 4
MICRO_BATCHES = 3


class Moment(IntEnum):
    """Where in a step a peer is lost: after this micro-batch, or around the optimizer."""

    FIRST_BATCH = 0
    SECOND_BATCH = 1
    LAST_BATCH = 2
    BEFORE_OPTIMIZER = 3
    AFTER_OPTIMIZER = 4
    AFTER_SCHEDULER = 5


@dataclass(frozen=True, slots=True)
class Draws:
    """What one step drew, from every generator."""

    python: float
    numpy: float
    torch: float


class Sampler:
    """A user's data position, with a generator of its own."""

    def __init__(self) -> None:
        self.generator = torch.Generator().manual_seed(5)
        self.at = 0

    def next_batch(self) -> torch.Tensor:
        self.at += 1
        return torch.randn(6, 4, generator=self.generator)

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at, "generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at = state["at"]
        self.generator.set_state(state["generator"])


class Training:
    """Gradient accumulation, dropout, batch statistics, two parameter groups, a scheduler."""

    def __init__(self) -> None:
        torch.manual_seed(3)
        first, last = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)
        self.model = torch.nn.Sequential(
            first, torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.3), torch.nn.GELU(), last
        )
        self.optimizer = torch.optim.AdamW(
            [
                {"params": [*first.parameters(), *self.model[1].parameters()], "lr": 0.02},
                {"params": last.parameters(), "lr": 0.1, "weight_decay": 0.3},
            ]
        )
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, [0.02, 0.1], total_steps=50
        )
        self.sampler = Sampler()
        others: dict[str, Stateful] = {"scheduler": self.scheduler, "sampler": self.sampler}
        self.state = ProtectedState(self.model, self.optimizer, others)
        self.state.progress.holds_state = True
        self.membership = ImaginedMembership()
        self.attempts = Attempts(
            self.state,
            self.membership,  # type: ignore[arg-type]
            Mailbox(),
            ImaginedControl(),  # type: ignore[arg-type]
            StepMeter(lambda: 0.0, CollectiveLog(lambda: 0.0), SecondOfSteps()),
            None,
            lambda: None,
        )
        self.lost_at: list[tuple[int, Moment]] = []
        self.draws: dict[int, Draws] = {}
        self.losses: dict[int, float] = {}

    def reach(self, moment: Moment) -> None:
        here = (self.state.progress.next_step, moment)
        if here in self.lost_at:
            self.lost_at.remove(here)
            raise GenerationBrokenError(f"a peer died at {here}")

    def step(self) -> None:
        number = self.state.progress.next_step
        self.optimizer.zero_grad()
        total = 0.0
        for micro_batch in range(MICRO_BATCHES):
            loss = self.model(self.sampler.next_batch()).square().mean() / MICRO_BATCHES
            loss.backward()
            total += loss.item()
            self.reach(Moment(micro_batch))
        drawn = Draws(random.random(), float(numpy.random.rand()), float(torch.rand(())))
        assert self.draws.setdefault(number, drawn) == drawn
        assert self.losses.setdefault(number, total) == total
        self.reach(Moment.BEFORE_OPTIMIZER)
        self.optimizer.step()
        self.reach(Moment.AFTER_OPTIMIZER)
        self.scheduler.step()
        self.reach(Moment.AFTER_SCHEDULER)

    def bytes(self) -> bytes:
        return b"".join(encode_state(self.state.capture()).chunks())


@functools.cache
def undisturbed() -> tuple[list[bytes], dict[int, Draws], dict[int, float]]:
    """The state before each step and at the end, the draws, and the losses."""
    training = Training()
    states = [training.bytes()]
    for _ in range(STEPS):
        training.attempts.run(training.step)
        states.append(training.bytes())
    return states, training.draws, training.losses


def noise() -> None:
    """What other code in the process draws between two attempts."""
    random.random()
    numpy.random.rand(3)
    torch.rand(5)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, STEPS - 1), st.sampled_from(Moment)), max_size=5))
def test_a_run_that_loses_peers_anywhere_ends_as_the_undisturbed_one(
    lost_at: list[tuple[int, Moment]],
) -> None:
    states, draws, losses = undisturbed()
    training = Training()
    training.lost_at = copy.copy(lost_at)

    def take_over() -> None:
        noise()
        if not training.state.progress.holds_state:
            at = training.state.progress.next_step
            training.state.restore(decode_state(bytearray(states[at])))
        assert training.bytes() == states[training.state.progress.next_step]

    training.membership.on_rejoin = take_over
    while training.state.progress.next_step < STEPS:
        training.attempts.run(training.step)
    assert training.bytes() == states[STEPS]
    assert (training.draws, training.losses) == (draws, losses)
    assert training.lost_at == []


def test_a_newcomer_goes_on_from_a_peer_s_state_as_the_peer_itself() -> None:
    states, draws, losses = undisturbed()
    for at in range(STEPS):
        newcomer = Training()
        noise()
        newcomer.step()
        newcomer.draws.clear()
        newcomer.losses.clear()
        newcomer.state.restore(decode_state(bytearray(states[at])))
        while newcomer.state.progress.next_step < STEPS:
            newcomer.attempts.run(newcomer.step)
        assert newcomer.bytes() == states[STEPS]
        assert newcomer.draws == {step: draws[step] for step in range(at, STEPS)}
        assert newcomer.losses == {step: losses[step] for step in range(at, STEPS)}


def test_ranks_draw_differently_and_a_run_with_another_seed_does_too() -> None:
    runs = []
    for rank, job_seed in ((0, 0), (1, 0), (0, 1)):
        training = Training()
        training.membership.rank = rank
        training.state.progress.job_seed = job_seed
        training.attempts.run(training.step)
        runs.append(training.draws[0])
    assert len(set(runs)) == 3
