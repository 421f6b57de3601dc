"""Keeps the processes beside the job running: started again after an unexpected end."""

from __future__ import annotations

import logging
import selectors
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.remediation.launchers.local.back_off import BackOff, BackOffRule
from paramedic.remediation.launchers.local.child_process import ChildProcess, ProcessSpec
from paramedic.remediation.launchers.port import LauncherSetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from paramedic.remediation.launchers.local.clock import Clock
    from paramedic.remediation.launchers.local.event_loop import EventLoop, Timer
    from paramedic.remediation.launchers.local.exit_status import ExitStatus

_LOG = logging.getLogger(__name__)


def _nobody(_text: str) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSpec:
    """A process that runs beside the job, such as `diagnose`."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    """The whole environment; nothing is added."""
    log_path: Path
    pass_fds: tuple[int, ...] = ()
    back_off: BackOffRule = field(default_factory=BackOffRule)
    tell: Callable[[str], None] = _nobody
    """Hears one line when the process has ended unasked, and one when it is back."""
    consolation: str = "training goes on"
    """What that line says of the job."""


class ServiceKeeper:
    """One service: alive until `end` is called."""

    def __init__(
        self,
        spec: ServiceSpec,
        loop: EventLoop,
        clock: Clock,
        start_process: Callable[[ProcessSpec], ChildProcess],
    ) -> None:
        self._spec = spec
        self._loop = loop
        self._clock = clock
        self._start_process = start_process
        self._back_off = BackOff(spec.back_off)
        self._child: ChildProcess | None = None
        self._timer: Timer | None = None
        self._started_at = 0.0
        self._is_ending = False

    @property
    def is_alive(self) -> bool:
        """Whether its process has not been reaped."""
        return self._child is not None

    def start(self) -> None:
        """Start the process. Raises LauncherSetupError when it cannot be executed."""
        self._started_at = self._clock.monotonic()
        child = self._start_process(
            ProcessSpec(
                command=self._spec.command,
                environment=self._spec.environment,
                log_path=self._spec.log_path,
                pass_fds=self._spec.pass_fds,
            )
        )
        self._child = child
        self._loop.watch(
            child.exit_descriptor, selectors.EVENT_READ, lambda _events: self._exited()
        )
        _LOG.info("service %s runs as process %d", self._spec.name, child.process_id)

    def end(self) -> None:
        """Ask the process to end and do not start it again."""
        self._is_ending = True
        if self._timer is not None:
            self._timer.cancel()
        if self._child is not None:
            self._child.signal_group(signal.SIGTERM)

    def kill(self) -> None:
        """End the process at once."""
        self.end()
        if self._child is not None:
            self._child.signal_group(signal.SIGKILL)

    def reap(self) -> ExitStatus | None:
        """Wait for the process's end, once it was told to end; None when there is none."""
        if self._child is None:
            return None
        self._loop.unwatch(self._child.exit_descriptor)
        status = self._child.reap()
        self._child = None
        return status

    def _exited(self) -> None:
        status = self.reap()
        if not self._is_ending:
            _LOG.warning("service %s %s: see %s", self._spec.name, status, self._spec.log_path)
            consolation, log_path = self._spec.consolation, self._spec.log_path
            self._spec.tell(f"{self._spec.name} {status}; {consolation} ({log_path})")
            self._start_later()

    def _start_later(self) -> None:
        lived_seconds = self._clock.monotonic() - self._started_at
        delay_seconds = self._back_off.delay_after(lived_seconds)
        _LOG.info("service %s starts again in %.1f s", self._spec.name, delay_seconds)
        self._timer = self._loop.call_after(delay_seconds, self._start_again)

    def _start_again(self) -> None:
        try:
            self.start()
        except LauncherSetupError as error:
            _LOG.warning("service %s: %s", self._spec.name, error)
            self._start_later()
        else:
            self._spec.tell(f"{self._spec.name} is back")
