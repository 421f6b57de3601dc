"""Hurts one process from outside: signals, and a quota that halves its processor time.

A fixed share of stopped time would not slow a rank down on a busy machine: the scheduler gives a
process that was stopped the time back as soon as it runs again. So what is limited is the
processor time itself, as a container's CPU quota does.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

TURN_SECONDS = 0.01
SLOW_SHARE = 0.5
"""A slow rank gets this share of the processor time that it used before."""
_NANOSECOND = 1e-9


class Victim(Protocol):
    """A process that takes signals."""

    def send(self, number: signal.Signals) -> bool:
        """Send a signal; False once the process is gone."""
        ...

    def processor_seconds(self) -> float:
        """Processor time that all of its threads have used so far."""
        ...


class PinnedProcess(AbstractContextManager["PinnedProcess"]):
    """A process held by its pidfd, so that a signal never reaches a stranger with its number.

    Raises ProcessLookupError when there is no such process.
    """

    def __init__(self, process_id: int) -> None:
        self._descriptor = os.pidfd_open(process_id)
        self._threads = Path(f"/proc/{process_id}/task")

    def send(self, number: signal.Signals) -> bool:
        """Send a signal; False once the process is gone."""
        try:
            signal.pidfd_send_signal(self._descriptor, number)
        except ProcessLookupError:
            return False
        return True

    def processor_seconds(self) -> float:
        """Processor time that all of its threads have used so far, to the microsecond."""
        return sum(_thread_seconds(thread) for thread in self._threads.glob("*/schedstat"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)


def _thread_seconds(schedstat: Path) -> float:
    with suppress(FileNotFoundError, ProcessLookupError):  # it ended since it was listed
        return int(schedstat.read_text().split()[0]) * _NANOSECOND
    return 0.0


@dataclass(frozen=True, slots=True)
class Quota:
    """How much processor time a process may use a second; what it did not use is not saved up."""

    share: float
    """Processor seconds a second."""
    credit_seconds: float = 0.02
    """Processor time that may be saved up, so that a short pause is no reason to run late."""

    def left(self, left_seconds: float, passed_seconds: float, used_seconds: float) -> float:
        """Processor time that is left after a turn; below zero the process has to pause."""
        earned = self.share * passed_seconds
        return min(left_seconds + earned, self.credit_seconds) - used_seconds


def measure_share(
    victim: Victim, seconds: float, clock: Callable[[], float], wait: Callable[[float], bool]
) -> float:
    """Processor seconds a second that the victim uses, measured for the given time."""
    started, used = clock(), victim.processor_seconds()
    wait(seconds)
    return (victim.processor_seconds() - used) / max(clock() - started, TURN_SECONDS)


def slow_down(
    victim: Victim,
    quota: Quota,
    clock: Callable[[], float],
    wait: Callable[[float], bool],
) -> None:
    """Hold the victim to its quota until it is gone or `wait` says that it is over.

    `clock` gives seconds that never go back; `wait(seconds)` is True when the turns shall end
    (`threading.Event.wait`). The victim is always left running.
    """
    left, before, used = 0.0, clock(), victim.processor_seconds()
    try:
        while not wait(TURN_SECONDS):
            now, used_now = clock(), victim.processor_seconds()
            left = quota.left(left, now - before, used_now - used)
            before, used = now, used_now
            if not victim.send(signal.SIGSTOP if left < 0 else signal.SIGCONT):
                return
    finally:
        victim.send(signal.SIGCONT)
