"""A verb of ours as a child process: started, watched, and always ended."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.api.wiring.observing import start_verb

if TYPE_CHECKING:
    from paramedic.remediation.launchers.local.child_process import ChildProcess

_END_SECONDS = 30.0


class ChildVerb:
    """A running verb."""

    def __init__(self, process: ChildProcess) -> None:
        self._process = process
        self._exit_code: int | None = None

    @property
    def exit_code(self) -> int | None:
        """As a shell sees it; None while it runs."""
        if self._exit_code is None and self.is_over(0.0):
            self._exit_code = self._process.reap().shell_code
        return self._exit_code

    def is_over(self, wait_seconds: float) -> bool:
        """Whether it has ended, waiting at most this long for it."""
        if self._exit_code is not None:
            return True
        poll = select.poll()
        poll.register(self._process.exit_descriptor, select.POLLIN)
        return bool(poll.poll(wait_seconds * 1000))

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C would; it ends its own children."""
        if not self.is_over(0.0):
            os.kill(self._process.process_id, signal.SIGINT)

    def end(self) -> int:
        """Interrupt it, wait, kill it when that does not help; its exit code."""
        self.interrupt()
        if not self.is_over(_END_SECONDS):
            self._process.signal_group(signal.SIGKILL)
        if self._exit_code is None:
            self._exit_code = self._process.reap().shell_code
        return self._exit_code


@contextmanager
def child_verb(
    arguments: Sequence[str], log_path: Path, environment: Mapping[str, str]
) -> Iterator[ChildVerb]:
    """Run a verb of ours for as long as the context lasts. For the main thread."""
    child = ChildVerb(start_verb(arguments, log_path, environment))
    try:
        yield child
    finally:
        child.end()
