"""The outbox never makes anybody wait, whatever becomes of the bus."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.bus.outbox import Outbox
from paramedic.ingest.contract import BusUnavailableError, Topic


class FlakyPublisher:
    """Accepts messages, except the calls that are planned to fail."""

    def __init__(self, failing_calls: set[int]) -> None:
        self._failing_calls = failing_calls
        self._calls = 0
        self.accepted: list[bytes] = []
        self.closed = False

    def publish(self, _topic: Topic, _key: str, payload: bytes) -> None:
        self._calls += 1
        if self._calls in self._failing_calls:
            raise BusUnavailableError("planned")
        self.accepted.append(payload)

    def flush(self, _timeout_seconds: float) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def never_over(_seconds: float) -> bool:
    return False


def test_letters_go_out_in_order_and_the_publisher_is_closed() -> None:
    publisher = FlakyPublisher(set())
    outbox = Outbox(lambda: publisher, 10)
    outbox.start()
    for number in range(5):
        outbox.offer(Topic.EVENTS, "job/0", bytes([number]))
    assert outbox.close(10.0)
    assert publisher.accepted == [bytes([number]) for number in range(5)]
    assert publisher.closed


def test_when_full_the_oldest_letters_are_dropped_and_counted() -> None:
    publisher = FlakyPublisher(set())
    outbox = Outbox(lambda: publisher, 3)
    for number in range(10):
        outbox.offer(Topic.TELEMETRY, "job/0", bytes([number]))
    outbox.start()
    outbox.close(10.0)
    assert outbox.dropped == 7
    assert publisher.accepted == [b"\x07", b"\x08", b"\x09"]


@given(st.sets(st.integers(1, 30), max_size=20))
def test_a_bus_that_fails_now_and_then_loses_and_reorders_nothing(failing: set[int]) -> None:
    publisher = FlakyPublisher(failing)
    outbox = Outbox(lambda: publisher, 20, wait=never_over)
    for number in range(10):
        outbox.offer(Topic.EVENTS, "job/0", bytes([number]))
    outbox.start()
    assert outbox.close(10.0)
    assert publisher.accepted == [bytes([number]) for number in range(10)]
    assert outbox.dropped == 0


def test_a_dead_bus_blocks_neither_the_offer_nor_the_end() -> None:
    def connect() -> FlakyPublisher:
        raise BusUnavailableError("dead")

    outbox = Outbox(connect, 2)
    outbox.start()
    for _ in range(100):
        outbox.offer(Topic.EVENTS, "job/0", b"x")
    assert not outbox.close(10.0)
    assert outbox.dropped >= 97


def test_many_threads_may_offer_at_once() -> None:
    publisher = FlakyPublisher(set())
    outbox = Outbox(lambda: publisher, 1000)

    def offer_many() -> None:
        for _ in range(100):
            outbox.offer(Topic.EVENTS, "job/0", b"x")

    threads = [threading.Thread(target=offer_many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    outbox.start()
    assert outbox.close(10.0)
    assert len(publisher.accepted) == 400


def test_letters_that_have_waited_too_long_are_dropped_and_counted() -> None:
    now = [0.0]
    publisher = FlakyPublisher(set())
    outbox = Outbox(lambda: publisher, 100, keep_seconds=3.0, clock=lambda: now[0])
    for number in range(10):
        now[0] = float(number)
        outbox.offer(Topic.TELEMETRY, "job/0", bytes([number]))
    outbox.start()
    outbox.close(10.0)
    assert (outbox.dropped, outbox.sent) == (6, 4)
    assert publisher.accepted == [b"\x06", b"\x07", b"\x08", b"\x09"]


def test_an_outbox_tells_why_the_bus_takes_nothing_and_when_it_does_again() -> None:
    publisher = FlakyPublisher({1, 2})
    troubles: list[str | None] = []

    def look(_seconds: float) -> bool:
        troubles.append(outbox.trouble)
        return False

    outbox = Outbox(lambda: publisher, 10, wait=look)
    outbox.offer(Topic.EVENTS, "job/0", b"x")
    outbox.start()
    assert outbox.close(10.0)
    assert (troubles, outbox.trouble) == (["planned", "planned"], None)


class ForgetfulPublisher(FlakyPublisher):
    """Takes everything, finds out when it is flushed that the bus has it not, and counts that."""

    def __init__(self, failing_flushes: int) -> None:
        super().__init__(set())
        self.failing_flushes = failing_flushes
        self.lost_messages, self.forgotten_messages, self.bus_resets = 1, 20, 3

    def flush(self, _timeout_seconds: float) -> None:
        if self.failing_flushes:
            self.failing_flushes -= 1
            raise BusUnavailableError("1 message is not acknowledged")


def test_what_the_bus_may_not_have_taken_is_asked_for_until_it_has() -> None:
    publisher = ForgetfulPublisher(failing_flushes=3)
    troubles: list[str | None] = []
    settled = threading.Event()

    def look(_seconds: float) -> bool:
        troubles.append(outbox.trouble)
        if not publisher.failing_flushes:
            settled.set()
        return False

    outbox = Outbox(lambda: publisher, 10, wait=look)
    outbox.offer(Topic.EVENTS, "job/0", b"x")
    outbox.start()
    assert settled.wait(10.0)
    assert outbox.close(10.0)
    assert (troubles, outbox.trouble) == (3 * ["1 message is not acknowledged"], None)
    assert publisher.accepted == [b"x"]


def test_what_the_publisher_knows_of_losses_is_passed_on() -> None:
    outbox = Outbox(lambda: ForgetfulPublisher(0), 10)
    assert (outbox.lost, outbox.forgotten, outbox.bus_resets) == (0, 0, 0)
    outbox.offer(Topic.EVENTS, "job/0", b"x")
    outbox.start()
    assert outbox.close(10.0)
    assert (outbox.lost, outbox.forgotten, outbox.bus_resets) == (1, 20, 3)


def test_a_bus_that_never_takes_what_it_was_given_does_not_hold_up_the_end() -> None:
    outbox = Outbox(lambda: ForgetfulPublisher(10**9), 10, wait=never_over)
    outbox.offer(Topic.EVENTS, "job/0", b"x")
    outbox.start()
    assert outbox.close(10.0)
