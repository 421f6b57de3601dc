"""The session of a process that a supervisor has started."""

from __future__ import annotations

import functools
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import torch

from paramedic.remediation.trainer import control_messages
from paramedic.remediation.trainer.attempts import Attempts
from paramedic.remediation.trainer.ddp_regroup import require_movable
from paramedic.remediation.trainer.errors import (
    LeaveError,
    SetupError,
    StopRequestedError,
    SupervisorLostError,
)
from paramedic.remediation.trainer.protected_state import ProtectedState, Stateful
from paramedic.remediation.trainer.rehearsal import REHEARSING, rehearse
from paramedic.remediation.trainer.telemetry import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, MutableMapping

    from paramedic.remediation.trainer.checkpoints import Checkpoints
    from paramedic.remediation.trainer.control import ControlConnection
    from paramedic.remediation.trainer.environment import WorkerEnvironment
    from paramedic.remediation.trainer.mailbox import Mailbox
    from paramedic.remediation.trainer.membership import Membership
    from paramedic.remediation.trainer.step_meter import StepMeter
    from paramedic.remediation.trainer.step_times import SecondOfSteps
    from paramedic.remediation.trainer.telemetry import Telemetry
    from paramedic.remediation.trainer.world import World

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

EXIT_SUPERVISOR_LOST = 3
_CLOSE_SECONDS = 2.0
_CHECKPOINT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Parts:
    """What a supervised session is made of."""

    worker: WorkerEnvironment
    variables: MutableMapping[str, str]
    """The process's environment; says when a rehearsal is on."""
    mailbox: Mailbox
    control: ControlConnection
    world: World
    membership: Membership
    meter: StepMeter
    second: SecondOfSteps
    telemetry: Telemetry | None
    checkpoints: Checkpoints | None


class SupervisedSession:
    """Makes a step loop recoverable. See `session.join`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._attempts: Attempts | None = None
        self._tried = False
        self._in_the_loop = False

    @property
    def rehearsing(self) -> bool:
        """Whether the step is being rehearsed alone: leave outside effects out of it then."""
        return REHEARSING in self._parts.variables

    def protect(
        self,
        *,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        scheduler: Stateful | None = None,
        **extras: Stateful,
    ) -> None:
        """Say what training has learned; anything with state_dict and load_state_dict may follow.

        Raises SetupError for an object without them, and when this torch cannot move the model.
        """
        require_movable(model)
        others = extras if scheduler is None else {"scheduler": scheduler, **extras}
        state = ProtectedState(model, optimizer, others)
        state.progress.job_seed = torch.initial_seed()
        self._parts.meter.instrument(model, optimizer)
        self._state = state
        self._attempts = self._make_attempts(state)

    def _make_attempts(self, state: ProtectedState) -> Attempts:
        parts = self._parts
        return Attempts(
            state,
            parts.membership,
            parts.mailbox,
            parts.control,
            parts.meter,
            parts.checkpoints,
            self._note_place,
        )

    def _note_place(self) -> None:
        membership = self._parts.membership
        newest = self._state.progress.next_step - 1
        if newest >= 0:
            self._parts.second.know_step(newest)
            membership.newest_step = newest
        if self._parts.telemetry is not None and membership.rank is not None:
            self._parts.telemetry.place = Place(membership.generation, membership.rank)

    def attempt(self, step: Callable[Parameters, Result]) -> Callable[Parameters, Result | None]:
        """Decorate the function that does one step: it is tried again when a peer is lost.

        The call returns None when the others have committed the step meanwhile.
        """

        @functools.wraps(step)
        def attempted(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result | None:
            attempts = self._require_attempts()
            self._tried = True

            def bound() -> Result:
                return step(*arguments, **keywords)

            with _leaving():
                if not attempts.joined and not self._join(attempts, bound):
                    return None
                return attempts.run(bound)

        return attempted

    def _require_attempts(self) -> Attempts:
        if self._attempts is None:
            raise SetupError("an attempt was made before protect: call job.protect(…) first")
        return self._attempts

    def _join(self, attempts: Attempts, step: Callable[[], object]) -> bool:
        """Join the job; False when the job is at another step than the one that was rehearsed."""
        wanted = self._state.progress.next_step
        rehearse(self._state, step, self._parts.variables)
        attempts.join(control_messages.ready(self._parts.worker.node))
        return self._state.progress.next_step == wanted

    def steps(self, count: int) -> Generator[int, None, None]:
        """The steps that are still to do, from the job's present one up to `count`."""
        attempts = self._require_attempts()
        progress = self._state.progress
        self._in_the_loop = True
        while True:
            while progress.next_step < count:
                self._tried = False
                yield progress.next_step
                if not self._tried:
                    raise SetupError("steps: the loop's body made no attempt of the step")
            if self._at_the_end(attempts):
                break
        self._finish()

    def _at_the_end(self, attempts: Attempts) -> bool:
        if not attempts.joined:
            return True
        try:
            return attempts.meet_at_the_end(self._parts.world.meet)
        except LeaveError:
            # Every step is committed here, so nothing is lost by leaving the loop as usual.
            return True

    def _finish(self) -> None:
        self._in_the_loop = False
        if self._parts.checkpoints is not None:
            self._parts.checkpoints.wait(_CHECKPOINT_SECONDS)
        self._parts.control.send(control_messages.finished(self._state.progress.next_step - 1))

    def close(self, error: BaseException | None) -> None:
        """At the process's end: leave the group and stop the threads.

        A loop that was left early is finished too, unless an `error` of the user's code ends the
        process: whether a `break` or an error has closed the generator cannot be known before.
        The error is told before the peers can see the group break, so that nobody else is blamed.
        """
        if error is not None:
            self._parts.control.send(control_messages.raised(error))
        elif self._left_early_by_choice():
            self._finish()
        if self._parts.telemetry is not None:
            self._parts.telemetry.stop(_CLOSE_SECONDS)
        self._parts.world.leave(_CLOSE_SECONDS)
        self._parts.control.close()

    def _left_early_by_choice(self) -> bool:
        try:
            self._parts.mailbox.check()
        except LeaveError:
            return False
        return self._in_the_loop


@contextmanager
def _leaving() -> Iterator[None]:
    try:
        yield
    except StopRequestedError:
        raise SystemExit(0) from None
    except SupervisorLostError as error:
        sys.stderr.write(f"paramedic: {error}; the worker leaves\n")
        raise SystemExit(EXIT_SUPERVISOR_LOST) from None
