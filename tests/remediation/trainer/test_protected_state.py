"""What is protected, and what a failed attempt leaves behind."""

from __future__ import annotations

import copy
import sys

import pytest
import torch

from paramedic.remediation.trainer.errors import SetupError
from paramedic.remediation.trainer.protected_state import ProtectedState
from paramedic.remediation.trainer.rehearsal import rehearse
from paramedic.remediation.trainer.state_encoding import encode_state


class Position:
    """A data loader's place, as a user would register it."""

    def __init__(self) -> None:
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


class Bench:
    def __init__(self) -> None:
        torch.manual_seed(1)
        self.model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.1)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 1, 0.5)
        self.position = Position()
        self.state = ProtectedState(
            self.model,
            self.optimizer,
            {"scheduler": self.scheduler, "position": self.position},
        )

    def digest(self) -> str:
        return encode_state(self.state.capture()).digest()

    def backward(self) -> None:
        self.position.at += 1
        self.optimizer.zero_grad()
        self.model(torch.randn(5, 4)).square().sum().backward()

    def step(self) -> None:
        self.backward()
        self.optimizer.step()
        self.scheduler.step()


def test_a_restored_state_is_the_captured_one() -> None:
    one, other = Bench(), Bench()
    one.step()
    one.state.progress.next_step = 9
    other.state.restore(one.state.capture())
    assert other.digest() == one.digest()
    assert other.state.progress.next_step == 9
    assert other.position.at == 1


def test_both_go_on_alike_after_a_restore() -> None:
    one, other = Bench(), Bench()
    one.step()
    other.state.restore(copy.deepcopy(one.state.capture()))
    for bench in (one, other):
        torch.manual_seed(3)
        bench.step()
    assert other.digest() == one.digest()


def test_an_attempt_that_fails_before_the_optimizer_leaves_no_trace() -> None:
    bench = Bench()
    bench.step()
    bench.state.progress.holds_state = True
    before, digest = bench.state.begin_attempt(), bench.digest()
    bench.backward()
    bench.scheduler.step()
    assert bench.digest() != digest
    bench.state.rewind(before)
    assert bench.digest() == digest
    assert bench.state.progress.holds_state
    assert all(parameter.grad is None for parameter in bench.model.parameters())


def test_an_attempt_that_fails_after_the_optimizer_gives_the_state_up() -> None:
    bench = Bench()
    bench.state.progress.holds_state = True
    before = bench.state.begin_attempt()
    bench.step()
    bench.state.rewind(before)
    assert not bench.state.progress.holds_state


def test_a_rehearsal_leaves_no_trace(capsys: pytest.CaptureFixture[str]) -> None:
    bench = Bench()
    digest, told = bench.digest(), []
    variables: dict[str, str] = {}
    torch.manual_seed(4)
    expected = torch.rand(1).item()
    torch.manual_seed(4)

    def step() -> None:
        sys.stdout.write("not shown")
        bench.step()
        told.append(dict(variables))

    rehearse(bench.state, step, variables)
    assert bench.digest() == digest
    assert told == [{"PARAMEDIC_REHEARSING": "1"}] * 2
    assert variables == {}
    assert torch.rand(1).item() == expected
    assert not bench.state.progress.holds_state
    assert capsys.readouterr().out == ""


def test_an_object_without_a_state_is_refused_by_name() -> None:
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(SetupError, match="sampler is a list"):
        ProtectedState(model, optimizer, {"sampler": []})  # type: ignore[dict-item]
