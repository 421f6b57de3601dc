"""One step, tried until it is committed: the decisions, without processes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from paramedic.remediation.trainer.attempts import Attempts
from paramedic.remediation.trainer.checkpoint_files import CheckpointFolder
from paramedic.remediation.trainer.checkpoints import Checkpoints
from paramedic.remediation.trainer.collective_log import CollectiveLog
from paramedic.remediation.trainer.control_messages import Stop
from paramedic.remediation.trainer.errors import StopRequestedError
from paramedic.remediation.trainer.mailbox import Mailbox
from paramedic.remediation.trainer.protected_state import ProtectedState
from paramedic.remediation.trainer.step_meter import StepMeter
from paramedic.remediation.trainer.step_times import SecondOfSteps
from remediation.trainer.imagined_job import ImaginedControl, ImaginedMembership, failing

pytestmark = pytest.mark.long


class Bench:
    def __init__(self, folder: Path | None = None) -> None:
        self.model = torch.nn.Linear(1, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.state = ProtectedState(self.model, self.optimizer, {})
        self.state.progress.holds_state = True
        self.membership = ImaginedMembership()
        self.control = ImaginedControl()
        self.mailbox = Mailbox()
        self.joined: list[int] = []
        checkpoints = None
        if folder is not None:
            checkpoints = Checkpoints(
                CheckpointFolder(folder), 0.001, iter(range(99)).__next__, self.control.send
            )
        self.checkpoints = checkpoints
        self.attempts = Attempts(
            self.state,
            self.membership,  # type: ignore[arg-type]
            self.mailbox,
            self.control,  # type: ignore[arg-type]
            StepMeter(lambda: 0.0, CollectiveLog(lambda: 0.0), SecondOfSteps()),
            checkpoints,
            lambda: self.joined.append(self.membership.generation),
        )

    def commits(self) -> list[tuple[int, int]]:
        return [
            (one["generation"], one["step"])
            for one in self.control.sent
            if one["type"] == "committed"
        ]


def test_a_step_that_succeeds_is_committed_once() -> None:
    bench = Bench()
    assert bench.attempts.run(lambda: "loss") == "loss"
    assert bench.state.progress.next_step == 1
    assert bench.membership.failures == []


def test_every_committed_step_is_told_with_its_generation() -> None:
    bench = Bench()
    for _ in range(3):
        bench.attempts.run(lambda: None)
    bench.attempts.run(failing(1))
    bench.attempts.run(lambda: None)
    assert bench.commits() == [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4)]


@pytest.mark.parametrize("times", [1, 2, 7])
def test_a_step_is_tried_again_in_each_new_generation(times: int) -> None:
    bench = Bench()
    assert bench.attempts.run(failing(times)) == "done"
    assert bench.membership.failures == ["a peer died"] * times
    assert bench.joined == list(range(1, times + 1))


def test_every_attempt_of_a_step_draws_the_same_numbers() -> None:
    bench = Bench()
    drawn: list[float] = []
    fail = failing(1)

    def step() -> object:
        drawn.append(torch.rand(1).item())
        return fail()

    bench.attempts.run(step)
    bench.attempts.run(step)
    assert drawn[0] == drawn[1]
    assert drawn[2] != drawn[1]


def test_a_step_that_the_others_have_committed_is_not_tried_again() -> None:
    bench = Bench()

    def take_over() -> None:
        bench.state.progress.next_step = 1

    bench.membership.on_rejoin = take_over
    assert bench.attempts.run(failing(1)) is None
    assert bench.commits() == []
    assert bench.state.progress.next_step == 1


def test_a_job_that_fell_back_to_a_checkpoint_goes_back_too() -> None:
    bench = Bench()
    bench.state.progress.next_step = 50

    def fall_back() -> None:
        bench.state.progress.next_step = 30

    bench.membership.on_rejoin = fall_back
    assert bench.attempts.run(failing(1)) is None
    assert bench.state.progress.next_step == 30


def test_the_user_s_error_is_raised_and_nothing_is_committed() -> None:
    bench = Bench()

    def step() -> object:
        raise RuntimeError("the user's own mistake")

    with pytest.raises(RuntimeError, match="own mistake"):
        bench.attempts.run(step)
    assert bench.membership.failures == []
    assert bench.state.progress.next_step == 0


def test_a_failure_after_the_optimizer_s_step_gives_the_state_up() -> None:
    bench = Bench()
    held: list[bool] = []
    bench.membership.on_rejoin = lambda: held.append(bench.state.progress.holds_state)
    fail = failing(1)

    def step() -> object:
        bench.optimizer.step()
        return fail()

    bench.attempts.run(step)
    assert held == [False]


def test_a_worker_that_was_told_to_stop_begins_no_step() -> None:
    bench = Bench()
    bench.mailbox.deliver(Stop())
    with pytest.raises(StopRequestedError):
        bench.attempts.run(lambda: pytest.fail("a step began"))


def test_rank_0_writes_checkpoints_and_no_other_rank(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for rank, expected in ((1, []), (0, [1])):
        bench.membership.rank = rank
        bench.attempts.run(lambda: None)
        assert bench.checkpoints is not None
        bench.checkpoints.wait(10)
        saved = [one["step"] for one in bench.control.sent if one["type"] == "checkpoint"]
        assert saved == expected


def test_a_member_lost_at_the_end_is_waited_for() -> None:
    bench = Bench()
    barrier = failing(1)
    assert not bench.attempts.meet_at_the_end(barrier)
    assert bench.joined == [1]
    assert bench.attempts.meet_at_the_end(barrier)
