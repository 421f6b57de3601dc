"""What every group promises its members: the same suite for the one in memory and for Kafka."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from paramedic.ingest.bus.group import Claim, GroupBus, Mark, Membership
from paramedic.ingest.bus.memory_group import MemoryGroupBus
from paramedic.ingest.contract import Message, Start, Topic
from servers.kafka_broker import kafka_broker

TOPICS = (Topic.EVENTS, Topic.TELEMETRY)
GROUP = "readers"
PATIENCE_SECONDS = 40.0
PARTITIONS = 4


@contextmanager
def memory(_folder: Path) -> Iterator[GroupBus]:
    yield MemoryGroupBus(PARTITIONS)


@contextmanager
def kafka(folder: Path) -> Iterator[GroupBus]:
    from paramedic.ingest.bus.kafka import KafkaBus
    from paramedic.ingest.bus.kafka_settings import KafkaSettings

    with kafka_broker(folder) as server:
        prefix = f"test-{uuid.uuid4().hex[:12]}"
        yield KafkaBus(KafkaSettings((server,), prefix, partitions=PARTITIONS, session_seconds=6.0))


@pytest.fixture(
    params=[memory, pytest.param(kafka, marks=pytest.mark.connected)],
    ids=lambda param: param.__name__,
)
def bus(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GroupBus]:
    with request.param(tmp_path) as bus:
        yield bus


@dataclass
class Reader:
    """A member and everything that it was told."""

    member: Membership
    shares: set[int] = field(default_factory=set)
    claims: list[Claim] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    def turn(self) -> None:
        delivery = self.member.poll(0.3)
        self.shares -= set(delivery.lost)
        self.shares |= {claim.share for claim in delivery.gained}
        self.claims.extend(delivery.gained)
        assert set(delivery.messages) <= self.shares
        for share, messages in delivery.messages.items():
            assert {message.partition for message in messages} == {share}
            self.messages.extend(messages)

    def payloads(self, topic: Topic) -> list[int]:
        return [int(one.payload) for one in self.messages if one.topic is topic]


@pytest.fixture
def reader(bus: GroupBus) -> Iterator[Callable[[], Reader]]:
    readers: list[Reader] = []

    def join() -> Reader:
        readers.append(Reader(bus.join(GROUP, TOPICS, [Topic.EVENTS])))
        return readers[-1]

    yield join
    for one in readers:
        one.member.close()


def until(condition: Callable[[], bool], *readers: Reader) -> None:
    """Let every reader take its turns, each in a thread of its own as if they were processes."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with ThreadPoolExecutor(len(readers)) as threads:
        while not condition():
            assert time.monotonic() < deadline, [(one.shares, len(one.messages)) for one in readers]
            list(threads.map(Reader.turn, readers))


def publish(bus: GroupBus, topic: Topic, numbers: range) -> None:
    publisher = bus.publisher()
    for number in numbers:
        publisher.publish(topic, f"job-{number % 20}/0", str(number).encode())
    publisher.flush(PATIENCE_SECONDS)
    publisher.close()


def marks_at(reader: Reader, needed_below: int, judged_below: int) -> dict[tuple[int, Topic], Mark]:
    """Marks of what was read of the telemetry, by the numbers in it."""
    marks = {}
    for share in reader.shares:
        read = [m for m in reader.messages if (m.partition, m.topic) == (share, Topic.TELEMETRY)]
        needed, judged = (
            min(one.offset for one in read if int(one.payload) >= number)
            for number in (needed_below, judged_below)
        )
        marks[share, Topic.TELEMETRY] = Mark(needed, judged)
    return marks


def test_one_member_reads_everything(bus: GroupBus, reader: Callable[[], Reader]) -> None:
    publish(bus, Topic.TELEMETRY, range(100))
    publish(bus, Topic.EVENTS, range(100, 150))
    alone = reader()
    until(lambda: len(alone.messages) == 150, alone)
    assert sorted(alone.payloads(Topic.TELEMETRY)) == list(range(100))
    assert alone.shares == set(range(PARTITIONS))
    assert [claim.judged for claim in alone.claims] == [{}] * PARTITIONS


def test_two_members_share_and_a_key_meets_on_one_of_them(
    bus: GroupBus, reader: Callable[[], Reader]
) -> None:
    one, two = reader(), reader()
    until(lambda: bool(one.shares and two.shares) and len(one.shares | two.shares) == 4, one, two)
    publish(bus, Topic.TELEMETRY, range(100))
    publish(bus, Topic.EVENTS, range(100))
    # Whoever was there first may have read some before the other came.
    until(lambda: len(set(one.messages) | set(two.messages)) == 200, one, two)
    assert one.shares.isdisjoint(two.shares)
    keys = [
        {m.key for m in member.messages if m.topic is topic}
        for topic in TOPICS
        for member in (one, two)
    ]
    assert keys[0] == keys[2]
    assert keys[1] == keys[3]
    assert keys[0].isdisjoint(keys[1])


def test_a_successor_begins_with_what_is_still_needed_and_knows_what_is_done(
    bus: GroupBus, reader: Callable[[], Reader]
) -> None:
    publish(bus, Topic.TELEMETRY, range(100))
    publish(bus, Topic.EVENTS, range(50))
    first = reader()
    until(lambda: len(first.messages) == 150, first)
    marks = marks_at(first, needed_below=40, judged_below=80)
    assert first.member.commit(marks)
    first.member.close()
    second = reader()
    until(lambda: len(second.messages) >= 110, second)
    assert sorted(second.payloads(Topic.TELEMETRY)) == list(range(40, 100))
    assert sorted(second.payloads(Topic.EVENTS)) == list(range(50)), "read from the beginning"
    told = {(c.share, topic): at for c in second.claims for topic, at in c.judged.items()}
    assert told == {place: mark.judged for place, mark in marks.items()}


def test_what_stays_with_a_member_is_not_read_again(
    bus: GroupBus, reader: Callable[[], Reader]
) -> None:
    publish(bus, Topic.TELEMETRY, range(100))
    old = reader()
    until(lambda: len(old.messages) == 100, old)
    new = reader()
    until(lambda: bool(new.shares) and len(old.shares) + len(new.shares) == 4, old, new)
    publish(bus, Topic.TELEMETRY, range(100, 200))
    until(lambda: len(set(old.messages) | set(new.messages)) == 200, old, new)
    assert len(old.messages) == len(set(old.messages))
    assert not {c.share for c in old.claims[PARTITIONS:]}


def test_what_is_held_comes_after_its_release(bus: GroupBus, reader: Callable[[], Reader]) -> None:
    publish(bus, Topic.EVENTS, range(40))
    alone = reader()
    until(lambda: len(alone.messages) == 40, alone)
    for share in alone.shares:
        alone.member.hold(share, [Topic.TELEMETRY])
    publish(bus, Topic.TELEMETRY, range(40))
    publish(bus, Topic.EVENTS, range(40, 80))
    until(lambda: len(alone.payloads(Topic.EVENTS)) == 80, alone)
    before = len(alone.payloads(Topic.TELEMETRY))
    for share in alone.shares:
        alone.member.release(share)
    until(lambda: len(alone.payloads(Topic.TELEMETRY)) == 40, alone)
    assert before == 0
    assert sorted(alone.payloads(Topic.TELEMETRY)) == list(range(40))


def test_the_lag_is_what_is_still_to_come(bus: GroupBus, reader: Callable[[], Reader]) -> None:
    publish(bus, Topic.TELEMETRY, range(100))
    alone = reader()
    until(lambda: len(alone.messages) == 100, alone)
    until(lambda: all(set(alone.member.lag(s).values()) == {0} for s in alone.shares), alone)


def test_marks_of_shares_that_have_moved_on_are_refused(
    bus: GroupBus, reader: Callable[[], Reader]
) -> None:
    publish(bus, Topic.TELEMETRY, range(100))
    old = reader()
    until(lambda: len(old.messages) == 100, old)
    marks = marks_at(old, needed_below=0, judged_below=80)
    old.member.close()
    new = reader()
    until(lambda: len(new.shares) == PARTITIONS, new)
    assert old.member.commit(marks) is False


def test_what_the_bus_holds_of_a_topic_is_read_whole(bus: GroupBus) -> None:
    assert list(bus.held(Topic.VERDICTS)) == []
    publish(bus, Topic.VERDICTS, range(300))
    assert sorted(int(one.payload) for one in bus.held(Topic.VERDICTS)) == list(range(300))


def test_members_and_subscriptions_do_not_disturb_each_other(
    bus: GroupBus, reader: Callable[[], Reader]
) -> None:
    subscription = bus.subscribe([Topic.TELEMETRY], Start.EARLIEST)
    publish(bus, Topic.TELEMETRY, range(30))
    alone = reader()
    until(lambda: len(alone.messages) == 30, alone)
    seen: list[Message] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(seen) < 30 and time.monotonic() < deadline:
        seen.extend(subscription.poll(0.1))
    subscription.close()
    assert sorted(int(one.payload) for one in seen) == list(range(30))
