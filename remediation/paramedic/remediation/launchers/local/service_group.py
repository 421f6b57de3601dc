"""Services without a job of ours beside them: kept alive until a signal ends them all."""

from __future__ import annotations

import selectors
from typing import TYPE_CHECKING

from paramedic.remediation.launchers.local.child_process import start_process
from paramedic.remediation.launchers.local.clock import Clock, SystemClock
from paramedic.remediation.launchers.local.event_loop import EventLoop
from paramedic.remediation.launchers.local.service_keeper import ServiceKeeper, ServiceSpec
from paramedic.remediation.launchers.local.signal_requests import SignalRequests

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Sequence

_GRACE_SECONDS = 10.0


class ServiceGroup:
    """Starts services and starts them again; everything happens in the thread that calls `run`."""

    def __init__(
        self,
        specs: Sequence[ServiceSpec],
        clock: Clock | None = None,
        grace_seconds: float = _GRACE_SECONDS,
    ) -> None:
        """`grace_seconds` is what services get between SIGTERM and SIGKILL."""
        self._clock = clock or SystemClock()
        self._grace_seconds = grace_seconds
        self._loop = EventLoop(self._clock)
        self._services = [
            ServiceKeeper(spec, self._loop, self._clock, start_process) for spec in specs
        ]

    def watch(self, descriptor: int, callback: Callable[[], None]) -> None:
        """Call back in the loop whenever the descriptor can be read."""
        self._loop.watch(descriptor, selectors.EVENT_READ, lambda _events: callback())

    def run(self) -> signal.Signals:
        """Run until a signal asks for the end; which one. For the main thread, once.

        No process is left when this returns. Raises LauncherSetupError when a service cannot be
        executed.
        """
        try:
            with SignalRequests(self._loop.wake_descriptor) as signals:
                for service in self._services:
                    service.start()
                while (number := signals.take()) is None:
                    self._loop.run_once()
                self._end(signals)
                return number
        finally:
            self._leave_nothing()
            self._loop.close()

    def _end(self, signals: SignalRequests) -> None:
        """A second signal ends the wait."""
        for service in self._services:
            service.end()
        deadline = self._clock.monotonic() + self._grace_seconds
        self._loop.call_at(deadline, _end_the_round)
        while (
            any(service.is_alive for service in self._services)
            and self._clock.monotonic() < deadline
            and signals.take() is None
        ):
            self._loop.run_once()

    def _leave_nothing(self) -> None:
        for service in self._services:
            service.kill()
        for service in self._services:
            service.reap()


def _end_the_round() -> None:
    """Due only so that the loop returns."""
