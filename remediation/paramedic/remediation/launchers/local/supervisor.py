"""The shell around the membership: sockets, child processes and timers of one job."""

from __future__ import annotations

import logging
import selectors
import signal
import socket
from collections import deque
from typing import TYPE_CHECKING

from paramedic.ingest.contract import Event
from paramedic.remediation.launchers.local.child_process import (
    ChildProcess,
    ProcessSpec,
    start_process,
)
from paramedic.remediation.launchers.local.commands import (
    Command,
    JobOver,
    Note,
    Publish,
    Send,
    SignalWorker,
    StartWorker,
)
from paramedic.remediation.launchers.local.control_desk import ControlDesk
from paramedic.remediation.launchers.local.log_tail import blames_a_peer, last_line
from paramedic.remediation.launchers.local.membership import Membership
from paramedic.remediation.launchers.local.service_keeper import ServiceKeeper, ServiceSpec
from paramedic.remediation.launchers.local.worker_environment import worker_environment
from paramedic.remediation.launchers.port import LauncherSetupError

if TYPE_CHECKING:
    from collections.abc import Callable

    from paramedic.ingest.contract import NodeName
    from paramedic.remediation.launchers.local.clock import Clock
    from paramedic.remediation.launchers.local.event_loop import EventLoop, Timer
    from paramedic.remediation.launchers.local.job_config import LocalJobConfig

_LOG = logging.getLogger(__name__)
_SHELL_SIGNAL_BASE = 128
_LOOK_SECONDS = 0.2


class Supervisor:
    """Owns every process of one job. Everything happens in the thread that calls `run`."""

    def __init__(
        self,
        config: LocalJobConfig,
        publish: Callable[[Event], None],
        clock: Clock,
        loop: EventLoop,
        services: tuple[ServiceSpec, ...],
        services_are_done: Callable[[], bool],
    ) -> None:
        self._config = config
        self._publish = publish
        self._clock = clock
        self._loop = loop
        self._membership = Membership(config.rules)
        self._children: dict[NodeName, ChildProcess] = {}
        self._services = [ServiceKeeper(spec, loop, clock, start_process) for spec in services]
        self._services_are_done = services_are_done
        self._desk: ControlDesk | None = None
        self._master_ports: dict[int, int] = {}
        self._timer: Timer | None = None
        self._over: JobOver | None = None
        self._is_starting = True
        self._stops_asked: deque[str] = deque()
        self.stop_code = 0
        """For the shell: 128 plus the signal that stopped the job."""

    def run(self, take_signal: Callable[[], signal.Signals | None]) -> JobOver:
        """Run the job to its end. Raises LauncherSetupError when it cannot be started."""
        self._desk = ControlDesk(self._config, self._loop, self._membership, self._clock)
        self._start()
        while self._over is None:
            self._loop.run_once()
            self._take_stops(take_signal)
            self._membership.time_passed(self._clock.monotonic())
            self._carry_out()
        self._end_services(take_signal)
        return self._over

    def ask_to_stop(self, reason: str) -> None:
        """End the job; safe from any thread."""
        self._stops_asked.append(reason)
        self._loop.wake()

    def close(self) -> None:
        """Leave nothing behind, whatever happened: no process and no socket."""
        for service in self._services:
            service.kill()
        for child in self._children.values():
            child.signal_group(signal.SIGKILL)
        for child in self._children.values():
            self._loop.unwatch(child.exit_descriptor)
            child.reap()
        self._children.clear()
        for service in self._services:
            service.reap()
        if self._desk is not None:
            self._desk.close()

    def _start(self) -> None:
        for service in self._services:
            service.start()
        self._membership.start(self._clock.monotonic())
        self._carry_out()
        self._is_starting = False

    def _take_stops(self, take_signal: Callable[[], signal.Signals | None]) -> int:
        """Hand on what was asked; how many requests there were."""
        while (number := take_signal()) is not None:
            self.stop_code = _SHELL_SIGNAL_BASE + number
            self._stops_asked.append(f"stopped by {number.name}")
        count = len(self._stops_asked)
        for _ in range(count):
            self._membership.stop(self._stops_asked.popleft(), self._clock.monotonic())
        return count

    def _carry_out(self) -> None:
        while commands := self._membership.take_commands():
            for command in commands:
                self._do(command)
        self._set_timer()

    def _do(self, command: Command) -> None:
        match command:
            case StartWorker():
                self._start_worker(command)
            case SignalWorker():
                self._signal_worker(command)
            case Send():
                self._send(command)
            case Publish():
                self._publish_event(command)
            case Note():
                _LOG.info(command.text)
            case JobOver():
                self._over = command

    def _start_worker(self, command: StartWorker) -> None:
        spec = ProcessSpec(
            command=self._config.command,
            environment=worker_environment(
                self._config, command.node, command.rank, self._master_port(command.generation)
            ),
            log_path=self._config.log_path(command.node),
            working_folder=self._config.working_folder,
        )
        try:
            child = start_process(spec)
        except LauncherSetupError as error:
            if self._is_starting:
                raise
            now = self._clock.monotonic()
            self._membership.process_not_started(command.node, str(error), now)
            return
        self._watch_worker(command.node, child)

    def _watch_worker(self, node: NodeName, child: ChildProcess) -> None:
        self._children[node] = child
        self._loop.watch(
            child.exit_descriptor, selectors.EVENT_READ, lambda _events: self._exited(node)
        )
        self._membership.process_started(node, child.process_id)
        _LOG.info("%s runs as process %d", node, child.process_id)

    def _signal_worker(self, command: SignalWorker) -> None:
        child = self._children.get(command.node)
        if child is None:
            return
        if child.has_exited:
            self._membership.ended_before_the_signal(command.node)
        child.signal_group(command.signal)

    def _send(self, command: Send) -> None:
        if self._desk is not None:
            self._desk.send(command.node, command.message)

    def _publish_event(self, command: Publish) -> None:
        self._publish(
            Event(
                timestamp=self._clock.now(),
                kind=command.kind,
                job=self._config.job,
                node=command.node,
                rank=command.rank,
                generation=command.generation,
                details=command.details,
            )
        )

    def _exited(self, node: NodeName) -> None:
        if self._desk is not None:  # what it said last counts, so it is heard first
            self._desk.hear_last_words(node)
        child = self._children.pop(node)
        self._loop.unwatch(child.exit_descriptor)
        status = child.reap()
        _LOG.info("%s %s", node, status)
        last_words = None if status.is_success else last_line(self._config.log_path(node))
        now = self._clock.monotonic()
        self._membership.exited(node, status, now, blames_a_peer=blames_a_peer(last_words))
        self._carry_out()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        deadline = self._membership.next_deadline()
        # The loop's run asks the membership after every round, so the timer only has to end one.
        self._timer = None if deadline is None else self._loop.call_at(deadline, _end_the_round)

    def _master_port(self, generation: int) -> int:
        if generation not in self._master_ports:
            self._master_ports[generation] = _free_port()
        return self._master_ports[generation]

    def _end_services(self, take_signal: Callable[[], signal.Signals | None]) -> None:
        self._let_services_finish(take_signal)
        for service in self._services:
            service.end()
        self._drain(self._config.rules.stop_grace_seconds, take_signal)

    def _let_services_finish(self, take_signal: Callable[[], signal.Signals | None]) -> None:
        give_up_at = self._clock.monotonic() + self._config.service_patience_seconds
        goes_on = self._drain(self._config.service_drain_seconds, take_signal)
        while goes_on and not self._services_are_done() and self._clock.monotonic() < give_up_at:
            goes_on = self._drain(_LOOK_SECONDS, take_signal)

    def _drain(self, seconds: float, take_signal: Callable[[], signal.Signals | None]) -> bool:
        """Give the services time; False once none runs or somebody does not want to wait for it."""
        deadline = self._clock.monotonic() + seconds
        timer = self._loop.call_at(deadline, _end_the_round)
        is_hurried = False
        while not is_hurried and self._clock.monotonic() < deadline and self._has_services():
            self._loop.run_once()
            is_hurried = bool(self._take_stops(take_signal))
        timer.cancel()
        return not is_hurried and self._has_services()

    def _has_services(self) -> bool:
        return any(service.is_alive for service in self._services)


def _end_the_round() -> None:
    """Due only so that the loop returns."""


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
