"""The agent's second: receive, sample at the full second, publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event

from paramedic.ingest.agent.clock import Clock
from paramedic.ingest.agent.collecting import NodeSample, collect, newest_generation
from paramedic.ingest.agent.configuration import AgentConfig
from paramedic.ingest.agent.datagrams import RankReport, read_datagram
from paramedic.ingest.agent.errors import DatagramRefusedError, RefusalReason, SampleError
from paramedic.ingest.agent.inbox import Inbox
from paramedic.ingest.agent.outbox import Outbox
from paramedic.ingest.agent.rates import TimedReading, metrics_of
from paramedic.ingest.agent.sampling import Sampler
from paramedic.ingest.agent.ticks import TickSchedule
from paramedic.ingest.agent.watched import WatchedProcess, WatchList
from paramedic.ingest.contract import BusUnavailableError, TelemetryBatch

_LONGEST_WAIT_SECONDS = 2.0
"""The next tick is never further away, unless somebody has set the clock back."""


@dataclass(frozen=True, slots=True)
class AgentPorts:
    """What the agent touches of the world."""

    clock: Clock
    sampler: Sampler
    inbox: Inbox
    publish: Callable[[TelemetryBatch], None]
    """May raise BusUnavailableError: the batch is kept and tried again."""
    dead_letter: Callable[[bytes, str], None]
    """Takes a datagram that is not used, and why; may raise BusUnavailableError."""


@dataclass(frozen=True, slots=True)
class AgentCounters:
    """What the agent has done and what it could not do."""

    published: int
    dropped_batches: int
    """Given up because the bus was away for too long."""
    missed_ticks: int
    sample_failures: int
    """Rows lost because the system did not answer for a process."""
    refused_datagrams: Mapping[RefusalReason, int]
    lost_dead_letters: int
    """Refused datagrams that the bus did not take."""


class Agent:
    """Watches processes and gathers their trainers' reports for one job.

    Used by one thread; only the watch list may be changed from another one.
    """

    def __init__(self, config: AgentConfig, watch: WatchList, ports: AgentPorts) -> None:
        self._config = config
        self._watch = watch
        self._ports = ports
        self._ticks = TickSchedule()
        self._outbox = Outbox(ports.publish, config.outbox_batches)
        self._previous: dict[int, TimedReading] = {}
        self._reports: list[RankReport] = []
        self._generation = 0
        self._refused: Counter[RefusalReason] = Counter()
        self._sample_failures = 0
        self._lost_dead_letters = 0

    def run(self, stop: Event) -> None:
        """Work second by second until told to stop.

        Raises what `publish` and `dead_letter` raise beyond BusUnavailableError.
        """
        while not stop.is_set():
            self.run_second(stop)

    def run_second(self, stop: Event) -> None:
        """Wait for the next full second, then publish the one that has ended."""
        tick = self._ticks.next_tick(self._ports.clock.wall_seconds())
        if not self._receive_until(tick, stop):
            return
        samples = self._samples()
        self._receive_until(tick + self._config.settle_seconds, stop)
        self._publish(tick - 1, samples)

    def counters(self) -> AgentCounters:
        """The counts so far."""
        return AgentCounters(
            published=self._outbox.published,
            dropped_batches=self._outbox.dropped,
            missed_ticks=self._ticks.missed,
            sample_failures=self._sample_failures,
            refused_datagrams=dict(self._refused),
            lost_dead_letters=self._lost_dead_letters,
        )

    def _receive_until(self, moment_seconds: float, stop: Event) -> bool:
        """False when told to stop, or when the clock was set back and the moment is far again."""
        while not stop.is_set():
            left = moment_seconds - self._ports.clock.wall_seconds()
            if left <= 0:
                return True
            if left > _LONGEST_WAIT_SECONDS:
                return False
            for payload in self._ports.inbox.receive(min(left, self._config.wait_slice_seconds)):
                self._take(payload)
        return False

    def _take(self, payload: bytes) -> None:
        try:
            report = read_datagram(payload, self._config.job, self._watch.current())
            self._require_room()
        except DatagramRefusedError as refusal:
            self._refused[refusal.reason] += 1
            self._bury(payload, str(refusal))
        else:
            self._reports.append(report)

    def _require_room(self) -> None:
        if len(self._reports) >= self._config.pending_datagrams:
            raise DatagramRefusedError(
                RefusalReason.OVERFLOW,
                f"{len(self._reports)} are kept already (pending_datagrams)",
            )

    def _bury(self, payload: bytes, reason: str) -> None:
        try:
            self._ports.dead_letter(payload, reason)
        except BusUnavailableError:
            self._lost_dead_letters += 1

    def _samples(self) -> list[NodeSample]:
        machine = self._ports.sampler.machine()
        samples: list[NodeSample] = []
        readings: dict[int, TimedReading] = {}
        for process in self._watch.current():
            reading = self._read(process)
            if reading is not None:
                readings[process.process_id] = reading
                before = self._previous.get(process.process_id)
                samples.append(NodeSample(process.node, metrics_of(before, reading, machine)))
        self._previous = readings
        return samples

    def _read(self, process: WatchedProcess) -> TimedReading | None:
        taken_seconds = self._ports.clock.monotonic_seconds()
        try:
            reading = self._ports.sampler.read(process.process_id, taken_seconds)
        except SampleError:
            self._sample_failures += 1
            return None
        return None if reading is None else TimedReading(reading, taken_seconds)

    def _publish(self, second: int, samples: list[NodeSample]) -> None:
        reports, self._reports = self._reports, []
        self._generation = newest_generation(reports, self._generation)
        batches = collect(self._config.job, second, samples, reports, self._generation)
        for batch in batches:
            self._outbox.put(batch)
        self._outbox.flush()
