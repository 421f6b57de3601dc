"""What the supervisor has said so far, for a main thread that waits and must be woken."""

from __future__ import annotations

import threading

from paramedic.remediation.trainer.control_messages import (
    Abort,
    Assign,
    Stop,
    SupervisorMessage,
)
from paramedic.remediation.trainer.errors import (
    LeaveError,
    StopRequestedError,
    SupervisorLostError,
)
from paramedic.remediation.trainer.interruption import Interruption


class Mailbox:
    """The newest assignment, the ended generations, and whether to leave.

    The control thread delivers; the main thread waits. A generation is over when it is aborted,
    when a newer one is assigned, and when the worker has to leave.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._assign: Assign | None = None
        self._ended_through = -1
        self._leave: LeaveError | None = None
        self._attached: Interruption | None = None

    def deliver(self, message: SupervisorMessage) -> None:
        """Take one message; presses the button of a generation that it ends."""
        with self._changed:
            self._take(message)
            self._changed.notify_all()
        self._press_if_over()

    def _take(self, message: SupervisorMessage) -> None:
        if isinstance(message, Assign):
            self._ended_through = max(self._ended_through, message.generation - 1)
            if self._assign is None or message.generation > self._assign.generation:
                self._assign = message
        elif isinstance(message, Abort):
            self._ended_through = max(self._ended_through, message.generation)
        elif isinstance(message, Stop):
            self._leave = self._leave or StopRequestedError("the supervisor asked to stop")

    def lose(self, reason: str) -> None:
        """The control connection is gone."""
        with self._changed:
            self._leave = self._leave or SupervisorLostError(reason)
            self._changed.notify_all()
        self._press_if_over()

    def attach(self, interruption: Interruption) -> None:
        """From now on this generation's button is the one to press."""
        with self._changed:
            self._attached = interruption
        self._press_if_over()

    def _press_if_over(self) -> None:
        with self._changed:
            attached, ended, leave = self._attached, self._ended_through, self._leave
        if attached is None:
            return
        if leave is not None:
            attached.press(str(leave))
        elif attached.generation <= ended:
            attached.press("the supervisor ended it")

    def wait_for_assignment(self, after: int) -> Assign:
        """The newest living assignment of a generation above `after`.

        Raises LeaveError when the worker has to leave instead.
        """
        with self._changed:
            while True:
                self._raise_leave()
                assign = self._assign
                if assign is not None and assign.generation > max(after, self._ended_through):
                    return assign
                self._changed.wait()

    def check(self) -> None:
        """Raises LeaveError when the worker has to leave."""
        with self._changed:
            self._raise_leave()

    def _raise_leave(self) -> None:
        if self._leave is not None:
            raise self._leave
