"""Hurts one process from outside: kill, freeze, or take away half of its time."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

PERIOD_SECONDS = 0.04
STOPPED_SHARE = 0.5


class Victim(Protocol):
    """A process that takes signals."""

    def send(self, number: signal.Signals) -> bool:
        """Send a signal; False once the process is gone."""
        ...


class PinnedProcess(AbstractContextManager["PinnedProcess"]):
    """A process held by its pidfd, so that a signal never reaches a stranger with its number.

    Raises ProcessLookupError when there is no such process.
    """

    def __init__(self, process_id: int) -> None:
        self._descriptor = os.pidfd_open(process_id)

    def send(self, number: signal.Signals) -> bool:
        """Send a signal; False once the process is gone."""
        try:
            signal.pidfd_send_signal(self._descriptor, number)
        except ProcessLookupError:
            return False
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)


@dataclass(frozen=True, slots=True)
class Duty:
    """How much of a process's time is taken away, in turns of one period."""

    period_seconds: float = PERIOD_SECONDS
    stopped_share: float = STOPPED_SHARE

    def next_stop_seconds(self, elapsed_seconds: float, stopped_seconds: float) -> float:
        """How long to stop in the coming period so that the share holds over the whole time.

        A turn that came late is made up for in the next ones, by at most one period each.
        """
        owed = self.stopped_share * (elapsed_seconds + self.period_seconds) - stopped_seconds
        return min(max(owed, 0.0), self.period_seconds)


def slow_down(
    victim: Victim,
    duty: Duty,
    clock: Callable[[], float],
    wait: Callable[[float], bool],
) -> None:
    """Stop and continue the victim in turns until it is gone or `wait` says that it is over.

    `clock` gives seconds that never go back; `wait(seconds)` is True when the turns shall end
    (`threading.Event.wait`). The victim is always left running.
    """
    started, stopped = clock(), 0.0
    try:
        while True:
            before = clock()
            pause = duty.next_stop_seconds(before - started, stopped)
            if not victim.send(signal.SIGSTOP) or wait(pause):
                return
            if not victim.send(signal.SIGCONT):
                return
            stopped += clock() - before
            if wait(max(duty.period_seconds - pause, 0.0)):
                return
    finally:
        victim.send(signal.SIGCONT)
