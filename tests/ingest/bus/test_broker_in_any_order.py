"""The broker without its sockets: any order of publishing, reading, breaking off and restarting."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from paramedic.ingest.bus.embedded.connection import ClientConnection
from paramedic.ingest.bus.embedded.frames import (
    Acknowledged,
    Deliver,
    Frame,
    FrameError,
    FrameReader,
    Missed,
    Publish,
    Subscribe,
    Subscribed,
    write,
)
from paramedic.ingest.bus.retention import MESSAGE_OVERHEAD_BYTES, Retention
from paramedic.ingest.bus.store import MessageStore
from paramedic.ingest.contract import ContractError, Start, Topic

HELD_SECONDS = 100.0
RETENTION = Retention(3 * (MESSAGE_OVERHEAD_BYTES + 10), HELD_SECONDS)

topics = st.sampled_from([Topic.EVENTS, Topic.TELEMETRY])
frames_in_a_wrong_place: st.SearchStrategy[Frame] = st.one_of(
    st.builds(Acknowledged, st.integers(0, 9)),
    st.builds(Deliver, topics, st.integers(0, 9), st.just("k"), st.just(b"")),
    st.builds(Missed, topics, st.integers(0, 9), st.integers(0, 9)),
    st.builds(Subscribed, st.integers(0, 9), st.just({Topic.EVENTS: 0})),
)


@dataclass(eq=False)
class Client:
    """One end of a connection whose other end is in the broker."""

    connection: ClientConnection
    frames: FrameReader = field(default_factory=FrameReader)

    def read(self, most_bytes: int) -> list[Frame]:
        """The frames that are complete with so many more bytes, as a slow socket gives them."""
        data = bytes(self.connection.outgoing[:most_bytes])
        del self.connection.outgoing[: len(data)]
        return self.frames.feed(data)


@dataclass(eq=False)
class Writer:
    """A publisher: numbers its messages, sends again what was not acknowledged."""

    client: Client
    number: int = 0


@dataclass(eq=False)
class Reader:
    """A subscriber, and where it must go on in every topic."""

    client: Client
    start: Start
    wanted: tuple[Topic, ...]
    epoch: int = 0
    positions: dict[Topic, int] = field(default_factory=dict)


class BrokerInAnyOrder(RuleBasedStateMachine):
    """The store is compared with plain lists, of which every reader sees all or is told."""

    writers: Bundle[Writer] = Bundle("writers")
    readers: Bundle[Reader] = Bundle("readers")

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.epoch = 0
        self.everybody: list[Reader] = []
        self.restart()

    @rule()
    def restart(self) -> None:
        """A new broker that knows nothing of the old one."""
        self.epoch += 1
        self.store = MessageStore(RETENTION, lambda: self.now)
        self.published: dict[Topic, list[bytes]] = {topic: [] for topic in Topic}

    def connect(self) -> Client:
        return Client(ClientConnection(self.store, self.epoch))

    @initialize(target=writers)
    def the_first_publisher_comes(self) -> Writer:
        return Writer(self.connect())

    @initialize(target=readers)
    def the_first_subscriber_comes(self) -> Reader:
        return self.subscriber(Start.LATEST, {Topic.EVENTS, Topic.TELEMETRY})

    @rule(target=writers)
    def a_publisher_comes(self) -> Writer:
        return Writer(self.connect())

    @rule(
        writer=writers,
        topic=topics,
        payloads=st.lists(st.binary(max_size=10), min_size=1, max_size=6),
        cut=st.integers(0, 40),
    )
    def publish(self, writer: Writer, topic: Topic, payloads: list[bytes], cut: int) -> None:
        if writer.client.connection._epoch != self.epoch:
            writer.client = self.connect()
        numbered = enumerate(payloads, writer.number + 1)
        data = b"".join(write(Publish(number, topic, "k", one)) for number, one in numbered)
        writer.number += len(payloads)
        writer.client.connection.receive(data[:cut])
        writer.client.connection.receive(data[cut:])
        self.published[topic] += payloads
        assert Acknowledged(writer.number) in writer.client.read(10_000)

    @rule(writer=writers, topic=topics, left_out=st.integers(1, 20))
    def a_publisher_breaks_off_in_the_middle_of_a_frame(
        self, writer: Writer, topic: Topic, left_out: int
    ) -> None:
        broken = self.connect()
        broken.connection.receive(write(Publish(writer.number + 1, topic, "k", b"x"))[:-left_out])
        assert broken.read(10_000) == []

    @rule(target=readers, start=st.sampled_from(Start), wanted=st.sets(topics, min_size=1))
    def a_subscriber_comes(self, start: Start, wanted: set[Topic]) -> Reader:
        return self.subscriber(start, wanted)

    def subscriber(self, start: Start, wanted: set[Topic]) -> Reader:
        reader = Reader(self.connect(), start, tuple(sorted(wanted)))
        self.everybody.append(reader)
        self.come_back(reader)
        return reader

    @rule(reader=readers)
    def come_back(self, reader: Reader) -> None:
        """It breaks off wherever it is, and goes on from what it has read."""
        reader.client = self.connect()
        known = dict.fromkeys(reader.wanted, 0) | reader.positions
        reader.client.connection.receive(write(Subscribe(reader.start, reader.epoch, known)))
        (begun,) = reader.client.read(10_000)
        assert isinstance(begun, Subscribed)
        assert begun.epoch == self.epoch
        if reader.epoch == self.epoch:
            assert begun.positions == reader.positions
        elif reader.epoch:
            assert set(begun.positions.values()) == {0}
        elif reader.start is Start.LATEST:
            assert begun.positions == {one: len(self.published[one]) for one in reader.wanted}
        reader.epoch, reader.positions = begun.epoch, dict(begun.positions)

    @rule(reader=readers, most_bytes=st.integers(1, 400))
    def read(self, reader: Reader, most_bytes: int) -> None:
        if reader.epoch != self.epoch:
            self.come_back(reader)
        reader.client.connection.refill()
        for frame in reader.client.read(most_bytes):
            self.take(reader, frame)

    def take(self, reader: Reader, frame: Frame) -> None:
        match frame:
            case Deliver(topic, offset, "k", payload):
                assert offset == reader.positions[topic]
                assert payload == self.published[topic][offset]
                reader.positions[topic] += 1
            case Missed(topic, count, next_offset):
                assert count > 0
                reader.positions[topic] += count
                assert reader.positions[topic] == next_offset
            case _:
                raise AssertionError(f"a subscriber got {frame}")

    @rule(seconds=st.sampled_from([1.0, HELD_SECONDS / 2, 3 * HELD_SECONDS]))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.store.expire()

    @rule(noise=st.binary(max_size=40))
    def a_stranger_sends_noise(self, noise: bytes) -> None:
        with suppress(FrameError, ContractError):
            # Behind a length that no frame has, so that it can be no message by accident.
            self.connect().connection.receive(b"\0\0\0\0" + noise)
            raise AssertionError("noise was taken for a frame")

    @rule(reader=readers, frame=frames_in_a_wrong_place)
    def a_subscriber_leaves_its_role(self, reader: Reader, frame: Frame) -> None:
        with suppress(FrameError):
            reader.client.connection.receive(write(frame))
            raise AssertionError("it was not refused")
        self.come_back(reader)

    @invariant()
    def every_reader_gets_to_the_end(self) -> None:
        """However slow they were: a reader that now reads on misses nothing without being told."""
        for reader in self.everybody:
            ahead = Reader(self.connect(), reader.start, reader.wanted, reader.epoch)
            ahead.positions = dict(reader.positions)
            self.come_back(ahead)
            while ahead.client.connection.has_more():
                self.read(ahead, 10_000)
            assert ahead.positions == {one: len(self.published[one]) for one in ahead.wanted}


TestBrokerInAnyOrder = pytest.mark.long(BrokerInAnyOrder.TestCase)
TestBrokerInAnyOrder.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
