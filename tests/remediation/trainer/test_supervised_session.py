"""What the user's script sees of a supervised session, without processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch

from paramedic.remediation.trainer.collective_log import CollectiveLog
from paramedic.remediation.trainer.control_messages import Stop
from paramedic.remediation.trainer.environment import WorkerEnvironment
from paramedic.remediation.trainer.errors import GenerationBrokenError, SetupError
from paramedic.remediation.trainer.mailbox import Mailbox
from paramedic.remediation.trainer.step_meter import StepMeter
from paramedic.remediation.trainer.step_times import SecondOfSteps
from paramedic.remediation.trainer.supervised import Parts, SupervisedSession
from remediation.trainer.imagined_job import ImaginedControl, ImaginedMembership

COUNT = 5


class ImaginedWorld:
    def __init__(self) -> None:
        self.met = 0
        self.losses_at_the_end = 0

    def meet(self) -> None:
        self.met += 1
        if self.met <= self.losses_at_the_end:
            raise GenerationBrokenError("a peer died in the last step")

    def leave(self, _timeout_seconds: float) -> None:
        pass


class Script:
    """A user's script around a session."""

    def __init__(self) -> None:
        self.control = ImaginedControl()
        self.mailbox = Mailbox()
        self.membership = ImaginedMembership()
        self.world = ImaginedWorld()
        self.second = SecondOfSteps()
        self.variables: dict[str, str] = {}
        self.session = SupervisedSession(self._parts())
        self.model = torch.nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5)
        self.calls: list[tuple[int, bool]] = []
        """Step, and whether it was a rehearsal."""
        self.kept: Iterator[int] = iter(())

    def _parts(self) -> Parts:
        parts: dict[str, Any] = {
            "worker": WorkerEnvironment("j", "node-0001", Path("/nowhere"), None, None, 600.0),
            "variables": self.variables,
            "mailbox": self.mailbox,
            "control": self.control,
            "world": self.world,
            "membership": self.membership,
            "meter": StepMeter(lambda: 0.0, CollectiveLog(lambda: 0.0), self.second),
            "second": self.second,
            "telemetry": None,
            "checkpoints": None,
        }
        return Parts(**parts)

    def begin(self, hook: Callable[[int], None] = lambda _step: None) -> Callable[[int], object]:
        """Everything up to the loop; `hook` runs in each attempt that is no rehearsal."""
        self.session.protect(model=self.model, optimizer=self.optimizer)

        @self.session.attempt
        def step(number: int) -> float:
            self.calls.append((number, self.session.rehearsing))
            if not self.session.rehearsing:
                hook(number)
            return 0.5

        return step

    def train(self, hook: Callable[[int], None] = lambda _step: None) -> list[object]:
        step = self.begin(hook)
        return [step(number) for number in self.session.steps(COUNT)]

    def done(self) -> list[int]:
        return [step for step, rehearsed in self.calls if not rehearsed]

    def finished(self) -> list[int]:
        return [one["step"] for one in self.control.sent if one["type"] == "finished"]


def test_the_first_step_is_rehearsed_twice_before_ready_and_every_step_is_done_once() -> None:
    script = Script()
    assert script.train() == [0.5] * COUNT
    assert script.calls[:2] == [(0, True)] * 2
    assert script.done() == list(range(COUNT))
    told = ["ready", *["committed"] * COUNT, "finished"]
    assert [one["type"] for one in script.control.sent] == told


def test_a_newcomer_goes_on_where_the_job_is() -> None:
    script = Script()

    def take_over() -> None:
        script.session._state.progress.next_step = 3

    script.membership.on_rejoin = take_over
    assert script.train() == [None, 0.5, 0.5]
    assert script.done() == [3, 4]
    assert script.membership.newest_step == 4


def test_the_end_is_told_once_and_after_everybody_has_met() -> None:
    script = Script()
    script.train()
    script.session.close(None)
    assert script.finished() == [COUNT - 1]
    assert script.world.met == 1


def test_a_peer_lost_at_the_end_is_helped_before_the_loop_ends() -> None:
    script = Script()
    script.world.losses_at_the_end = 2
    script.train()
    assert script.membership.failures == ["a peer died in the last step"] * 2
    assert (script.world.met, script.finished()) == (3, [COUNT - 1])


def test_a_peer_that_needs_an_older_checkpoint_at_the_end_brings_the_loop_back() -> None:
    script = Script()
    script.world.losses_at_the_end = 1
    script.begin()

    def go_back() -> None:
        if script.membership.failures:
            script.session._state.progress.next_step = 2

    script.membership.on_rejoin = go_back
    script.train()
    assert script.done() == [*range(COUNT), 2, 3, 4]


def leave_by_break(script: Script) -> None:
    step = script.begin()
    for number in script.session.steps(COUNT):
        step(number)
        if number == 2:
            break


def leave_by_closing(script: Script) -> None:
    step = script.begin()
    with closing(script.session.steps(COUNT)) as steps:
        for _ in range(3):
            step(next(steps))


def leave_while_the_generator_lives_on(script: Script) -> None:
    step = script.begin()
    script.kept = script.session.steps(COUNT)
    for _ in range(3):
        step(next(script.kept))


def leave_by_an_error_that_the_script_catches(script: Script) -> None:
    def hook(number: int) -> None:
        if number == 3:
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        script.train(hook)


LEAVES = [
    leave_by_break,
    leave_by_closing,
    leave_while_the_generator_lives_on,
    leave_by_an_error_that_the_script_catches,
]


@pytest.mark.parametrize("leave", LEAVES)
def test_a_loop_left_early_is_finished_when_the_process_ends_well(
    leave: Callable[[Script], None],
) -> None:
    script = Script()
    leave(script)
    assert script.finished() == [], "whether it ends well is not known yet"
    script.session.close(None)
    script.session.close(None)
    assert script.finished() == [2]


@pytest.mark.parametrize("leave", LEAVES)
def test_a_loop_left_by_an_error_is_not_finished(leave: Callable[[Script], None]) -> None:
    script = Script()
    leave(script)
    before = len(script.control.sent)
    script.session.close(ValueError("a bad batch"))
    assert script.finished() == []
    assert script.control.sent[before:] == [{"type": "raised", "error": "ValueError: a bad batch"}]


def end_by_stop(script: Script) -> None:
    script.mailbox.deliver(Stop())


def end_by_loss(script: Script) -> None:
    script.mailbox.lose("gone")


@pytest.mark.parametrize(("end", "code"), [(end_by_stop, 0), (end_by_loss, 3)])
def test_who_is_told_to_leave_exits_without_a_finish(
    end: Callable[[Script], None], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script()
    step = script.begin()
    steps = script.session.steps(COUNT)
    step(next(steps))
    end(script)
    with pytest.raises(SystemExit) as left:
        step(next(steps))
    assert left.value.code == code
    script.session.close(None)
    assert script.finished() == []
    assert capsys.readouterr().err.count("\n") == (1 if code else 0)


def test_a_script_that_never_reaches_its_loop_finishes_nothing() -> None:
    script = Script()
    script.begin()
    script.session.close(None)
    assert script.control.sent == []


def test_a_loop_of_no_steps_is_finished_at_once() -> None:
    script = Script()
    script.begin()
    assert list(script.session.steps(0)) == []
    assert script.finished() == [-1]


def test_a_body_without_an_attempt_is_named() -> None:
    script = Script()
    script.begin()
    steps = iter(script.session.steps(COUNT))
    next(steps)
    with pytest.raises(SetupError, match="made no attempt"):
        next(steps)


@pytest.mark.parametrize("use", [lambda s: next(s.steps(1)), lambda s: s.attempt(print)()])
def test_protect_comes_first(use: Callable[[SupervisedSession], object]) -> None:
    with pytest.raises(SetupError, match=r"call job\.protect"):
        use(Script().session)
