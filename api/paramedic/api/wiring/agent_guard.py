"""Says in one line that the agent's thread has ended, which nobody else would notice."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

_LOG = logging.getLogger(__name__)


class Mortal(Protocol):
    """Something that can end without being told to; the agent's thread is one."""

    @property
    def has_died(self) -> bool:
        """Whether it ended without being told to."""
        ...


class AgentGuard:
    """Asks whenever it is told to look, and speaks once."""

    def __init__(self, agent: Mortal, say: Callable[[str], None]) -> None:
        self._agent = agent
        self._say = say
        self._has_spoken = False

    def look(self) -> None:
        """Say it, if the agent has died since the last look."""
        if self._agent.has_died and not self._has_spoken:
            self._has_spoken = True
            self._say(
                "the agent has ended unexpectedly: training goes on, but without telemetry only the"
                " end of a process is noticed from now on (logs/supervisor.log says why)"
            )


@contextmanager
def threads_end_in_the_log() -> Iterator[None]:
    """While it lasts, the traceback of a thread that breaks goes to the log, not the terminal."""
    before = threading.excepthook

    def log(broken: threading.ExceptHookArgs) -> None:
        name = "a thread" if broken.thread is None else broken.thread.name
        trace = (broken.exc_type, broken.exc_value or broken.exc_type(), broken.exc_traceback)
        _LOG.error("%s has ended by an error", name, exc_info=trace)

    threading.excepthook = log
    try:
        yield
    finally:
        threading.excepthook = before
