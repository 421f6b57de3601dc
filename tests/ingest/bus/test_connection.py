"""What a client may send to the broker, and what is put on its way, without sockets."""

from __future__ import annotations

import pytest

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
from paramedic.ingest.bus.retention import Retention
from paramedic.ingest.bus.store import MessageStore
from paramedic.ingest.contract import Start, Topic

EPOCH = 7
SUBSCRIBE = Subscribe(Start.LATEST, 0, {Topic.EVENTS: 0})


@pytest.fixture
def store() -> MessageStore:
    return MessageStore(Retention(limit_bytes=100_000), clock=lambda: 0.0)


@pytest.fixture
def connection(store: MessageStore) -> ClientConnection:
    return ClientConnection(store, EPOCH)


def sent(connection: ClientConnection) -> list[Frame]:
    """What goes to the client now."""
    frames = FrameReader().feed(bytes(connection.outgoing))
    connection.outgoing.clear()
    return frames


def publish(number: int) -> bytes:
    return write(Publish(number, Topic.EVENTS, "k", str(number).encode()))


def test_messages_that_came_together_are_acknowledged_together(
    connection: ClientConnection,
) -> None:
    connection.receive(publish(1) + publish(2) + publish(3)[:5])
    assert sent(connection) == [Acknowledged(2)]
    connection.receive(publish(3)[5:])
    assert sent(connection) == [Acknowledged(3)]


def test_a_subscriber_is_told_where_it_begins_and_then_gets_what_comes(
    store: MessageStore, connection: ClientConnection
) -> None:
    store.append(Topic.EVENTS, "k", b"before")
    connection.receive(write(SUBSCRIBE))
    store.append(Topic.EVENTS, "k", b"after")
    connection.refill()
    assert sent(connection) == [Subscribed(EPOCH, {Topic.EVENTS: 1})]
    assert connection.has_more()
    connection.refill()
    assert sent(connection) == [Deliver(Topic.EVENTS, 1, "k", b"after")]
    assert not connection.has_more()


def test_a_returning_subscriber_goes_on_where_it_was(
    store: MessageStore, connection: ClientConnection
) -> None:
    for n in range(4):
        store.append(Topic.EVENTS, "k", str(n).encode())
    connection.receive(write(Subscribe(Start.LATEST, EPOCH, {Topic.EVENTS: 2})))
    assert sent(connection) == [Subscribed(EPOCH, {Topic.EVENTS: 2})]
    connection.refill()
    assert [frame.payload for frame in sent(connection) if isinstance(frame, Deliver)] == [
        b"2",
        b"3",
    ]


def test_a_subscriber_of_an_earlier_broker_gets_everything_of_this_one(
    store: MessageStore, connection: ClientConnection
) -> None:
    store.append(Topic.EVENTS, "k", b"published since the restart")
    connection.receive(write(Subscribe(Start.LATEST, EPOCH + 1, {Topic.EVENTS: 900})))
    assert sent(connection) == [Subscribed(EPOCH, {Topic.EVENTS: 0})]


def test_positions_beyond_the_end_are_brought_back_to_it(connection: ClientConnection) -> None:
    connection.receive(write(Subscribe(Start.LATEST, EPOCH, {Topic.EVENTS: 2**63})))
    assert sent(connection) == [Subscribed(EPOCH, {Topic.EVENTS: 0})]


def test_a_slow_subscriber_costs_one_batch_and_is_told_what_it_missed(
    store: MessageStore, connection: ClientConnection
) -> None:
    connection.receive(write(SUBSCRIBE))
    sent(connection)
    for n in range(1000):
        store.append(Topic.EVENTS, "k", bytes(1000))
        if n % 10 == 0:
            connection.refill()
            assert len(connection.outgoing) < 300_000
    first = sent(connection)
    connection.refill()
    missed, *rest = sent(connection)
    assert isinstance(missed, Missed)
    assert missed.count == connection.missed_messages > 0
    offsets = [frame.offset for frame in (*first, *rest) if isinstance(frame, Deliver)]
    assert len(offsets) + missed.count == 1000
    assert offsets[len(first)] == missed.next_offset


@pytest.mark.parametrize(
    "frames",
    [
        [SUBSCRIBE, SUBSCRIBE],
        [SUBSCRIBE, Publish(1, Topic.EVENTS, "k", b"")],
        [Publish(1, Topic.EVENTS, "k", b""), SUBSCRIBE],
        [Acknowledged(1)],
        [Deliver(Topic.EVENTS, 0, "k", b"")],
    ],
    ids=["subscribes twice", "publishes too", "subscribes too", "acknowledges", "delivers"],
)
def test_a_client_that_leaves_its_role_is_of_no_use(
    connection: ClientConnection, frames: list[Frame]
) -> None:
    with pytest.raises(FrameError, match="not expected"):
        connection.receive(b"".join(map(write, frames)))


@pytest.mark.long
def test_a_publisher_that_never_reads_is_of_no_use(connection: ClientConnection) -> None:
    def flood() -> None:
        for n in range(1, 30_000):
            connection.receive(write(Publish(n, Topic.EVENTS, "", b"")))

    with pytest.raises(FrameError, match="does not read"):
        flood()
