"""This process's place in the job, from one generation to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.remediation.trainer import control_messages
from paramedic.remediation.trainer.failures import is_collective_failure
from paramedic.remediation.trainer.interruptible_group import InterruptibleGroup, in_short
from paramedic.remediation.trainer.interruption import Interruption
from paramedic.remediation.trainer.rendezvous import Meeting, meet_alone

if TYPE_CHECKING:
    from collections.abc import Callable

    from paramedic.remediation.trainer.collective_log import CollectiveLog
    from paramedic.remediation.trainer.control import ControlConnection
    from paramedic.remediation.trainer.control_messages import Assign
    from paramedic.remediation.trainer.mailbox import Mailbox
    from paramedic.remediation.trainer.world import World

_ALONE = -1


class Membership:
    """Joins generations, any number of them, until one holds."""

    def __init__(
        self, control: ControlConnection, mailbox: Mailbox, world: World, log: CollectiveLog
    ) -> None:
        self._control = control
        self._mailbox = mailbox
        self._world = world
        self._log = log
        self.generation = _ALONE
        self.rank: int | None = None
        self.newest_step: int | None = None
        """Newest step committed here, for the reports."""
        self.world_size = 1
        self.interruption = Interruption(_ALONE)

    @property
    def group(self) -> InterruptibleGroup:
        """The members of the present generation."""
        return self._world.group

    def stay_alone(self) -> None:
        """Be a world of one: for building the model and for the rehearsal."""
        store, raw = meet_alone()
        self._world.enter(InterruptibleGroup(raw, self.interruption, self._log), store)

    def rejoin(self, settle: Callable[[], None]) -> None:
        """Wait to be assigned, meet the others, and let `settle` bring everybody to one state.

        Starts again with the next generation whenever one breaks on the way. Raises LeaveError
        when the worker has to leave.
        """
        while True:
            assign = self._mailbox.wait_for_assignment(after=self.generation)
            self.interruption = Interruption(assign.generation)
            self.generation = assign.generation
            self._mailbox.attach(self.interruption)
            try:
                self._enter(assign)
                settle()
            except RuntimeError as error:
                if not is_collective_failure(error, self.interruption):
                    raise
                self.report_failure(error)
            else:
                return

    def _enter(self, assign: Assign) -> None:
        meeting = Meeting(assign, self._announce_store)
        store, raw = meeting.meet(self.interruption)
        self._world.enter(InterruptibleGroup(raw, self.interruption, self._log), store)
        self.rank, self.world_size = assign.rank, assign.world_size

    def _announce_store(self, port: int) -> None:
        self._control.send(control_messages.store(self.generation, port))

    def report_failure(self, error: RuntimeError) -> None:
        """The generation broke here: end it and say so."""
        reason = in_short(self.interruption.cause or error)
        self.interruption.press(reason)
        self._control.send(control_messages.failed(self.generation, reason, self.newest_step))
