"""One step, tried until it is committed in some generation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from paramedic.remediation.trainer import control_messages
from paramedic.remediation.trainer.ddp_regroup import move_to_world
from paramedic.remediation.trainer.failures import is_collective_failure
from paramedic.remediation.trainer.seeding import seed_for, seed_generators
from paramedic.remediation.trainer.state_exchange import exchange

if TYPE_CHECKING:
    from collections.abc import Callable

    from paramedic.remediation.trainer.checkpoints import Checkpoints
    from paramedic.remediation.trainer.control import ControlConnection
    from paramedic.remediation.trainer.mailbox import Mailbox
    from paramedic.remediation.trainer.membership import Membership
    from paramedic.remediation.trainer.protected_state import ProtectedState
    from paramedic.remediation.trainer.step_meter import StepMeter

Result = TypeVar("Result")


class Attempts:
    """Runs the user's step, and recovers from broken generations in between."""

    def __init__(
        self,
        state: ProtectedState,
        membership: Membership,
        mailbox: Mailbox,
        control: ControlConnection,
        meter: StepMeter,
        checkpoints: Checkpoints | None,
        on_joined: Callable[[], None],
    ) -> None:
        self._state = state
        self._membership = membership
        self._mailbox = mailbox
        self._control = control
        self._meter = meter
        self._checkpoints = checkpoints
        self._on_joined = on_joined
        self.joined = False

    def join(self, ready: bytes) -> None:
        """Say `ready` and wait for a place. Raises LeaveError when the worker has to leave."""
        self._control.send(ready)
        self._rejoin()
        self.joined = True

    def run(self, step: Callable[[], Result]) -> Result | None:
        """Try the next step until it is committed, here or, while this process was out of it,
        by the others: then None. Raises LeaveError, and whatever the user's step raises.
        """
        progress = self._state.progress
        wanted = progress.next_step
        while progress.next_step == wanted:
            self._mailbox.check()
            before = self._state.begin_attempt()
            try:
                return self._try(step)
            except RuntimeError as error:
                if not is_collective_failure(error, self._membership.interruption):
                    raise
                self._membership.report_failure(error)
            self._state.rewind(before)
            self._rejoin()
        return None

    def _try(self, step: Callable[[], Result]) -> Result:
        progress = self._state.progress
        seed_generators(seed_for(progress.job_seed, progress.next_step, self._membership.rank or 0))
        self._meter.begin()
        result = step()
        self._meter.commit(progress.next_step, self._membership.world_size, result)
        self._commit()
        return result

    def _commit(self) -> None:
        progress, membership = self._state.progress, self._membership
        committed = progress.next_step
        progress.next_step += 1
        membership.newest_step = committed
        self._control.send(control_messages.committed(membership.generation, committed))
        if self._checkpoints is not None and membership.rank == 0:
            self._checkpoints.save_if_due(self._state, membership.generation)

    def meet_at_the_end(self, barrier: Callable[[], object]) -> bool:
        """Wait until everybody has committed the last step; False when a member was lost.

        Without this a member that dies in the last step would find nobody to take the state from.
        """
        try:
            barrier()
        except RuntimeError as error:
            if not is_collective_failure(error, self._membership.interruption):
                raise
            self._membership.report_failure(error)
        else:
            return True
        self._rejoin()
        return False

    def _rejoin(self) -> None:
        self._membership.rejoin(self._settle)
        self._on_joined()

    def _settle(self) -> None:
        move_to_world(self._state.model)
        exchange(self._membership.group, self._state, self._load_checkpoint)

    def _load_checkpoint(self) -> None:
        if self._checkpoints is not None:
            self._checkpoints.load(self._state, self._membership.generation)
