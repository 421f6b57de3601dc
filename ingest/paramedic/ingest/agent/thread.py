"""The agent as a thread of the supervisor, with the real socket, clock and sampler."""

from __future__ import annotations

import threading
from collections.abc import Callable

from paramedic.ingest.agent.agent import Agent, AgentCounters, AgentPorts
from paramedic.ingest.agent.clock import SystemClock
from paramedic.ingest.agent.configuration import AgentConfig
from paramedic.ingest.agent.inbox import UnixInbox
from paramedic.ingest.agent.psutil_sampler import PsutilSampler
from paramedic.ingest.agent.watched import WatchList
from paramedic.ingest.contract import TelemetryBatch


class AgentThread:
    """Runs an agent. The socket is there as soon as the object is, before any trainer starts.

    Raises AgentSetupError when the socket cannot be made or psutil is not installed.
    """

    def __init__(
        self,
        config: AgentConfig,
        watch: WatchList,
        publish: Callable[[TelemetryBatch], None],
        dead_letter: Callable[[bytes, str], None],
    ) -> None:
        sampler = PsutilSampler()
        self._inbox = UnixInbox(config.telemetry_socket)
        ports = AgentPorts(SystemClock(), sampler, self._inbox, publish, dead_letter)
        self._agent = Agent(config, watch, ports)
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._agent.run, args=(self._stop,), name="paramedic-agent", daemon=True
        )

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self, timeout_seconds: float) -> None:
        """Stop working and remove the socket; returns when the thread has ended or time is up."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(timeout_seconds)
        self._inbox.close()

    @property
    def has_died(self) -> bool:
        """Whether it ended without being told to; the reason went to `threading.excepthook`."""
        started = self._thread.ident is not None
        return started and not self._thread.is_alive() and not self._stop.is_set()

    def counters(self) -> AgentCounters:
        """What the agent has done so far."""
        return self._agent.counters()
