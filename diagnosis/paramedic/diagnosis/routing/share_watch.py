"""All jobs of one share: what its member knows, and loses with the share.

telemetry ─┬─ job of one shard ──────────────────────▶ detector ─▶ verdicts
           └─ shard of a large job ─▶ aligner ─▶ slots topic
slots ─▶ ledger (each once) ─▶ gate (all shards) ────▶ detector
events ──────────────────────────────────────────────▶ detector
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.onlooker import Onlookers, no_onlooker
from paramedic.diagnosis.reading import read
from paramedic.diagnosis.routing.backlog import Backlog
from paramedic.diagnosis.routing.gate import SlotGate
from paramedic.diagnosis.routing.job_watch import JobWatch
from paramedic.diagnosis.routing.ledger import SlotKey, SlotLedger
from paramedic.diagnosis.routing.shard_watch import ShardWatch
from paramedic.diagnosis.routing.told import Told
from paramedic.ingest.bus.group import Mark
from paramedic.ingest.contract import ContractError, Event, JobName, Topic
from paramedic.ingest.windows.errors import ForeignBatchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paramedic.diagnosis.history.fleet import FleetHistory
    from paramedic.diagnosis.ordering import Arrival
    from paramedic.diagnosis.routing.outlet import Outlet
    from paramedic.ingest.bus.group import Claim
    from paramedic.ingest.contract import Message, TelemetryBatch

_DIRECT_SHARDS = 1


@dataclass(frozen=True, slots=True)
class RoutingConfig:
    """What is kept of a share, and how far its successor reads back."""

    detector: DetectorConfig = field(default_factory=DetectorConfig)
    rewind_seconds: float = 180.0
    """Telemetry of so many seconds is read again by whoever takes a share over: windows are
    rebuilt from it, and evidence that has added up since. At least the window and the lateness."""
    slot_memory_seconds: int = 900
    """So far back a slot that comes again is known as a repeat by name; older ones are repeats."""
    shard_patience_seconds: float = 45.0
    """So long the shards of a job wait for one that is behind: the time to take a share over."""
    idle_seconds: float = 3600.0
    """A job that nothing is heard of for so long is forgotten."""
    onlookers: Onlookers = no_onlooker
    """Who looks on while jobs are judged."""
    fleet: FleetHistory | None = None
    """What all jobs together know of their nodes; None: each job knows its own."""


class ShareWatch:
    """Judges the messages of one share. Raises BusUnavailableError where something is published."""

    def __init__(
        self,
        config: RoutingConfig,
        claim: Claim,
        told: Mapping[JobName, Told],
        outlet: Outlet,
        *,
        sends_home: bool,
    ) -> None:
        """`sends_home` is off where there is one member only, which needs no keys."""
        self._config = config
        self._judged = claim.judged
        self._told = told
        self._outlet = outlet
        self._sends_home = sends_home
        self._backlog = Backlog()
        self._jobs: dict[JobName, JobWatch] = {}
        self._shards: dict[tuple[JobName, int], ShardWatch] = {}
        self._gates: dict[JobName, SlotGate] = {}
        self._rows_late = 0
        """Of jobs that are forgotten."""
        self._done: dict[Topic, int] = {}
        self.ledger = SlotLedger(config.slot_memory_seconds)

    @property
    def is_catching_up(self) -> bool:
        """Whether the share has not been up to date yet."""
        return not self._backlog.is_over

    @property
    def jobs(self) -> int:
        """Jobs that are watched."""
        return len(self._jobs)

    def counts(self) -> Mapping[str, int]:
        """What was accepted and left out so far."""
        return {
            "slots_accepted": self.ledger.accepted,
            "slots_repeated": self.ledger.repeated,
            "rows_late": self._rows_late + sum(job.rows_late for job in self._jobs.values()),
            "rows_left_out": sum(shard.rows_left_out for shard in self._shards.values()),
        }

    def take(self, messages: Sequence[Message], now: float) -> None:
        """Judge messages of this share; `now` is any steady clock, in seconds."""
        arrivals = [arrival for message in messages if (arrival := self._read(message))]
        self._judge_all(self._backlog.order(arrivals), now)
        for message in messages:
            self._done[message.topic] = message.offset + 1

    def end_catching_up(self, now: float) -> None:
        """The share is up to date: judge the events that waited for telemetry."""
        self._judge_all(self._backlog.end(), now)

    def pass_time(self, now: float) -> None:
        """Close the slots of shards that have gone silent; forget jobs that have long been."""
        # While a backlog is read, silence by the clock is no silence of the shard.
        for shard in () if self.is_catching_up else self._shards.values():
            for slot in shard.pass_time(now):
                self._outlet.give_slot(slot)
        for gate in self._gates.values():
            self._let_through(gate, now)
        oldest = now - self._config.idle_seconds
        for job in [job for job, watch in self._jobs.items() if watch.heard_at < oldest]:
            self._rows_late += self._jobs.pop(job).rows_late
            self._gates.pop(job, None)
            self.ledger.forget(job)
        self._shards = {one: w for one, w in self._shards.items() if w.heard_at >= oldest}

    def marks(self, now: float) -> dict[Topic, Mark]:
        """What a successor has to know, once the bus has accepted everything."""
        marks: dict[Topic, Mark] = {}
        for topic, done in self._done.items():
            if topic is Topic.EVENTS:
                if not self.is_catching_up:  # else some still wait to be judged
                    marks[topic] = Mark(done, done)
            else:
                # Never less than what the predecessor had judged, however far back it is read.
                judged = max(min([done, *self._waiting(topic)]), self._judged.get(topic, 0))
                marks[topic] = Mark(min([done, judged, *self._needed(topic, now)]), judged)
        return marks

    def _waiting(self, topic: Topic) -> Iterable[int]:
        """Offsets that were taken and are not judged yet."""
        gates = self._gates.values() if topic is Topic.SLOTS else ()
        return (offset for gate in gates if (offset := gate.oldest_offset) is not None)

    def _needed(self, topic: Topic, now: float) -> Iterable[int]:
        found = [job.needed(topic, now) for job in self._jobs.values()]
        if topic is Topic.TELEMETRY:
            found += [shard.needed(now) for shard in self._shards.values()]
        return [offset for offset in found if offset is not None]

    def _is_judged(self, message: Message) -> bool:
        return message.offset < self._judged.get(message.topic, 0)

    def _read(self, message: Message) -> Arrival | None:
        try:
            return read(message)
        except ContractError as error:
            self._bury(message, error)
            return None

    def _bury(self, message: Message, error: Exception) -> None:
        if not self._is_judged(message):
            self._outlet.bury(message, str(error))

    def _judge_all(self, arrivals: Iterable[Arrival], now: float) -> None:
        for arrival in arrivals:
            try:
                self._judge(arrival.message, arrival.fact, now)
            except ForeignBatchError as error:
                self._bury(arrival.message, error)

    def _judge(self, message: Message, fact: TelemetryBatch | Event, now: float) -> None:
        job, shard = fact.job, _shard_of_key(message.key, fact.job)
        if self._sends_home and shard is None:
            if not self._is_judged(message):
                self._outlet.send_home(message, job)
        elif isinstance(fact, Event):
            self._watch(message, fact, now)
        elif message.topic is Topic.SLOTS:
            self._take_slot(message, fact, now)
        elif fact.shards > _DIRECT_SHARDS or shard or job in self._gates:
            self._align(message, fact, shard or fact.shard, now)
        else:
            self._watch(message, fact, now)

    def _take_slot(self, message: Message, slot: TelemetryBatch, now: float) -> None:
        gate = self._gates.get(slot.job)
        if gate is None:
            gate = self._gates[slot.job] = SlotGate(self._config.shard_patience_seconds)
        if self.ledger.accept(SlotKey.of(slot)):
            gate.enter(message, slot, now)
            self._let_through(gate, now)

    def _let_through(self, gate: SlotGate, now: float) -> None:
        for message, slot in gate.leave(now, has_patience=self.is_catching_up):
            try:
                self._watch(message, slot, now)
            except ForeignBatchError as error:
                self._bury(message, error)

    def _align(self, message: Message, batch: TelemetryBatch, number: int, now: float) -> None:
        shard = self._shards.get((batch.job, number))
        if shard is None:
            shard = ShardWatch(self._config.detector.windows, batch.job, number)
            self._shards[batch.job, number] = shard
        is_new = not self._is_judged(message)
        for slot in shard.accept(batch, message.offset, now, is_new=is_new):
            self._outlet.give_slot(slot)

    def _watch(self, message: Message, fact: TelemetryBatch | Event, now: float) -> None:
        job = self._jobs.get(fact.job)
        if job is None:
            job = self._jobs[fact.job] = self._new_job(fact.job)
        self._outlet.tell(job.judge(message, fact, now))

    def _new_job(self, job: JobName) -> JobWatch:
        return JobWatch(
            self._config.detector.build(job, self._config.onlookers(job), self._config.fleet),
            self._config.rewind_seconds,
            self._judged,
            self._told.get(job) or Told(),
        )


def _shard_of_key(key: str, job: JobName) -> int | None:
    """The shard in a key that belongs to the job; None for any other key.

    >>> _shard_of_key("llama-7b/3", JobName("llama-7b")), _shard_of_key("x", JobName("llama-7b"))
    (3, None)
    """
    name, _, number = key.rpartition("/")
    return int(number) if name == job and number.isdecimal() else None
