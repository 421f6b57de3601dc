"""Members of a group over the bus in memory, who work turn by turn and die when a test says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from diagnosis.playing import Fact
from diagnosis.synthetic import node_name
from paramedic.diagnosis.contract import Verdict
from paramedic.diagnosis.routing.ledger import SlotKey, SlotLedger
from paramedic.diagnosis.routing.outlet import Outlet
from paramedic.diagnosis.routing.session import TOPICS, Session
from paramedic.diagnosis.routing.share_watch import RoutingConfig
from paramedic.diagnosis.routing.told import read_told
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.bus.group import Delivery
from paramedic.ingest.bus.memory_group import MemoryGroupBus, MemoryMembership
from paramedic.ingest.contract import Event, NodeName, Publisher, Table, TelemetryBatch, Topic

GROUP = "diagnose"


class KilledError(Exception):
    """The process is no more."""


class MortalPublisher:
    """Publishes so many messages; the process dies at the next one."""

    def __init__(self, publisher: Publisher, lives: float) -> None:
        self._publisher = publisher
        self.lives = lives

    def publish(self, topic: Topic, key: str, payload: bytes) -> None:
        if self.lives <= 0:
            raise KilledError
        self.lives -= 1
        self._publisher.publish(topic, key, payload)

    def flush(self, timeout_seconds: float) -> None:
        self._publisher.flush(timeout_seconds)

    def close(self) -> None:
        self._publisher.close()


class Member:
    """One diagnosis process."""

    def __init__(self, bus: MemoryGroupBus, config: RoutingConfig, lives: float = 1e9) -> None:
        self.bus = bus
        self.publisher = MortalPublisher(bus.publisher(), lives)
        self.membership: MemoryMembership = bus.join(GROUP, TOPICS, [Topic.EVENTS])
        self.session = Session(
            config,
            self.membership,
            Outlet(self.publisher),
            lambda: read_told(bus),
            shares_work=True,
        )

    def turn(self, now: float, *, bus_answers: bool = True) -> None:
        delivery = self.membership.poll(0.0) if bus_answers else Delivery(bus_answers=False)
        self.session.turn(delivery, now)

    def commit(self) -> None:
        self.session.commit()

    def kill(self) -> None:
        if self.membership.is_member:
            self.bus.kill(self.membership)

    @property
    def counts(self) -> Mapping[str, int]:
        return self.session.report().counts


@dataclass
class Crew:
    """All members, and a clock that a turn moves by a second."""

    bus: MemoryGroupBus = field(default_factory=MemoryGroupBus)
    config: RoutingConfig = field(default_factory=RoutingConfig)
    members: list[Member] = field(default_factory=list)
    now: float = 1000.0

    def hire(self, lives: float = 1e9) -> Member:
        self.members.append(Member(self.bus, self.config, lives))
        return self.members[-1]

    def turns(self, count: int = 1, *, commits: bool = True) -> None:
        """Whoever dies in a turn is replaced at once."""
        for _ in range(count):
            self.now += 1.0
            for member in list(self.members):
                try:
                    member.turn(self.now)
                    if commits:
                        member.commit()
                except KilledError:
                    self.replace(member)

    def replace(self, member: Member, lives: float = 1e9) -> Member:
        member.kill()
        self.members.remove(member)
        return self.hire(lives)

    def publish(self, facts: Iterable[Fact]) -> None:
        publisher = self.bus.publisher()
        for fact in facts:
            if isinstance(fact, Event):
                publisher.publish(Topic.EVENTS, f"{fact.job}/0", fact.to_json())
            else:
                publisher.publish(Topic.TELEMETRY, f"{fact.job}/{fact.shard}", encode(fact))

    def verdicts(self) -> list[Verdict]:
        return [Verdict.from_json(message.payload) for message in self.bus.held(Topic.VERDICTS)]

    def slots(self) -> list[TelemetryBatch]:
        """Every dense slot that was published, repeats included."""
        return [decode(message.payload) for message in self.bus.held(Topic.SLOTS)]


def accepted(slots: Sequence[TelemetryBatch]) -> tuple[list[SlotKey], int]:
    """What a sink that rejects repeats has accepted, in order, and how many it rejected.

    What it has accepted is whole: every node of its shard is in it.
    """
    ledger = SlotLedger(memory_seconds=900)
    kept = [slot for slot in slots if ledger.accept(SlotKey.of(slot))]
    for slot in kept:
        for table in slot.tables:
            assert sorted(table.nodes) == [node_name(slot.shard), node_name(slot.shard + 2)]
    keys = sorted(map(SlotKey.of, kept), key=lambda key: (key.second, key.shard))
    return keys, ledger.repeated


def sharded(batch: TelemetryBatch, nodes: int = 4, shards: int = 2) -> list[TelemetryBatch]:
    """The batch as a large job would publish it, a message a node; their shards take turns."""
    return [
        replace(
            batch,
            shard=number % shards,
            shards=shards,
            tables=tuple(rows(table, node_name(number)) for table in batch.tables),
        )
        for number in range(nodes)
    ]


def rows(table: Table, wanted: NodeName) -> Table:
    chosen = [at for at, node in enumerate(table.nodes) if node == wanted]
    return replace(
        table,
        nodes=tuple(table.nodes[at] for at in chosen),
        indices=None if table.indices is None else tuple(table.indices[at] for at in chosen),
        columns={
            name: tuple(values[at] for at in chosen) for name, values in table.columns.items()
        },
    )


def told(verdicts: Iterable[Verdict]) -> list[tuple[str, str]]:
    """Each verdict's states in the order in which a sink that rejects repeats sees them."""
    return list(dict.fromkeys((verdict.id, verdict.status.value) for verdict in verdicts))
