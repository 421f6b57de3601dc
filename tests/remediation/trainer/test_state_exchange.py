"""The members of a new generation come to one state: real gloo, members as threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.remediation.trainer.errors import StateDamagedError
from paramedic.remediation.trainer.failures import is_collective_failure
from paramedic.remediation.trainer.interruptible_group import InterruptibleGroup
from paramedic.remediation.trainer.interruption import Interruption
from paramedic.remediation.trainer.protected_state import ProtectedState
from paramedic.remediation.trainer.state_exchange import exchange
from remediation.trainer.groups import connected_group, run_together

RANKS = 3
NOTHING = -1


class Member:
    """One rank's state; `weight` tells whose it was. `step` NOTHING holds none."""

    def __init__(self, weight: float, step: int) -> None:
        model = torch.nn.Linear(3, 2)
        torch.nn.init.constant_(model.weight, weight)
        self.state = ProtectedState(model, torch.optim.SGD(model.parameters(), lr=0.1), {})
        self.state.progress.holds_state = step != NOTHING
        self.state.progress.next_step = max(step, 0)
        self.loaded = 0
        self.on_disk: int | None = None

    def load_checkpoint(self) -> None:
        self.loaded += 1
        if self.on_disk is not None:
            self.state.progress.next_step = self.on_disk

    @property
    def weight(self) -> float:
        return float(next(self.state.model.parameters()).detach()[0, 0])

    @property
    def place(self) -> tuple[float, int, bool]:
        progress = self.state.progress
        return self.weight, progress.next_step, progress.holds_state


@pytest.fixture(scope="module")
def group() -> Iterator[list[InterruptibleGroup]]:
    members = connected_group(RANKS)
    yield members
    for member in members:
        member.retire().join(30)


def members_at(*steps: int) -> list[Member]:
    return [Member(float(rank + 1), step) for rank, step in enumerate(steps)]


def settle(group: list[Any], members: list[Member]) -> list[Exception | None]:
    def one(rank: int) -> None:
        exchange(group[rank], members[rank].state, members[rank].load_checkpoint)

    return run_together([lambda rank=rank: one(rank) for rank in range(RANKS)])  # type: ignore[misc]


def test_a_newcomer_takes_the_whole_state_of_the_survivors(group: list[Any]) -> None:
    members = members_at(5, NOTHING, 5)
    members[0].state.progress.job_seed = 77
    assert settle(group, members) == [None] * RANKS
    assert [member.place for member in members] == [(1.0, 5, True), (1.0, 5, True), (3.0, 5, True)]
    assert members[1].state.progress.job_seed == 77


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(NOTHING, 2), min_size=RANKS, max_size=RANKS))
def test_the_lowest_rank_with_the_highest_step_is_the_source(
    group: list[Any], steps: list[int]
) -> None:
    members = members_at(*steps)
    assert settle(group, members) == [None] * RANKS
    newest = max(steps)
    source = max(steps.index(newest), 0)
    for rank, member in enumerate(members):
        owner = rank if newest != NOTHING and steps[rank] == newest else source
        assert member.place == (owner + 1.0, max(newest, 0), True)
    assert [member.loaded for member in members] == [int(newest == NOTHING), 0, 0]


def test_a_checkpoint_is_read_by_rank_0_only_and_reaches_everybody(group: list[Any]) -> None:
    members = members_at(NOTHING, NOTHING, NOTHING)
    for member in members:
        member.on_disk = 40
    settle(group, members)
    assert [member.place for member in members] == [(1.0, 40, True)] * RANKS
    assert [member.loaded for member in members] == [1, 0, 0]


class DamagingGroup:
    """Passes everything on, and turns one bit of the message of this number over."""

    def __init__(self, group: InterruptibleGroup, message: int) -> None:
        self._group = group
        self._left = message

    def __getattr__(self, name: str) -> Any:
        return getattr(self._group, name)

    def send(self, tensors: list[torch.Tensor], rank: int, tag: int) -> Any:
        if self._left == 0:
            tensors = [tensors[0].clone()]
            tensors[0][-1] ^= 1
        self._left -= 1
        return self._group.send(tensors, rank, tag)


@pytest.mark.parametrize("message", [0, 1], ids=["notice", "state"])
def test_a_state_that_was_damaged_on_the_wire_is_refused_and_asked_for_again(
    group: list[Any], message: int
) -> None:
    members = members_at(8, 8, NOTHING)
    first, *others = group
    ends = settle([DamagingGroup(first, message), *others], members)
    assert ends[:2] == [None, None]
    assert isinstance(ends[2], StateDamagedError)
    assert "from rank 0 has SHA-256" in str(ends[2])
    assert members[2].place == (3.0, 0, False), "nothing of it is used"
    assert is_collective_failure(ends[2], Interruption(0)), "the next generation tries again"

    assert settle(group, members) == [None] * RANKS
    assert members[2].place == (1.0, 8, True)


def test_a_source_that_dies_while_it_sends_ends_the_wait_of_the_receiver() -> None:
    group = connected_group(RANKS)

    class Dying(DamagingGroup):
        def send(self, tensors: list[torch.Tensor], rank: int, tag: int) -> Any:
            self._group.interruption.press("died")
            return self._group.send(tensors, rank, tag)

    members = members_at(1, 1, NOTHING)
    ends = settle([Dying(group[0], 0), *group[1:]], members)
    assert [isinstance(ends[rank], RuntimeError) for rank in (0, 2)] == [True, True]
    assert members[2].place == (3.0, 0, False)
    for member in group:
        member.retire().join(30)
