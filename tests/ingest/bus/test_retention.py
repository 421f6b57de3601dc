"""A topic's log is bounded by bytes and by age, and a late reader learns what it missed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramedic.ingest.bus.retention import MESSAGE_OVERHEAD_BYTES, RetainedLog, Retention
from paramedic.ingest.contract import Topic

unhurried = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
EVERYTHING = 10**9


def log(limit_bytes: int = EVERYTHING, limit_seconds: float = 1e9) -> RetainedLog:
    return RetainedLog(Topic.EVENTS, Retention(limit_bytes, limit_seconds))


def cost(payload: int) -> int:
    return payload + MESSAGE_OVERHEAD_BYTES


def test_the_oldest_messages_make_room_for_new_ones() -> None:
    bounded = log(limit_bytes=3 * cost(100))
    for n in range(5):
        bounded.append("", bytes([n]) * 100, now=0.0)
    reading = bounded.read(0, EVERYTHING)
    assert [message.payload[0] for message in reading.messages] == [2, 3, 4]
    assert (reading.missed, reading.next_offset) == (2, 5)


def test_old_messages_are_dropped_by_age() -> None:
    bounded = log(limit_seconds=10.0)
    bounded.append("", b"old", now=0.0)
    bounded.append("", b"young", now=5.0)
    bounded.expire(now=10.0)
    assert bounded.first_offset == 0
    bounded.expire(now=10.5)
    assert [message.payload for message in bounded.read(1, EVERYTHING).messages] == [b"young"]
    bounded.expire(now=100.0)
    assert (bounded.first_offset, bounded.next_offset) == (2, 2)


def test_a_message_above_the_limit_is_still_delivered() -> None:
    bounded = log(limit_bytes=10)
    bounded.append("", b"first", now=0.0)
    bounded.append("", bytes(1000), now=0.0)
    assert [len(message.payload) for message in bounded.read(0, 1).messages] == [1000]


def test_a_reading_takes_no_more_than_asked_but_at_least_one() -> None:
    full = log()
    for _ in range(10):
        full.append("", bytes(100), now=0.0)
    assert len(full.read(0, 1).messages) == 1
    assert len(full.read(0, 3 * cost(100)).messages) == 3


def test_a_reader_at_the_end_gets_nothing_and_misses_nothing() -> None:
    reading = log().read(0, EVERYTHING)
    assert (reading.messages, reading.missed, reading.next_offset) == ((), 0, 0)


@pytest.mark.parametrize(("limit_bytes", "limit_seconds"), [(0, 1.0), (1, 0.0), (-1, 1.0)])
def test_a_retention_of_nothing_is_refused(limit_bytes: int, limit_seconds: float) -> None:
    with pytest.raises(ValueError, match="above zero"):
        Retention(limit_bytes, limit_seconds)


@unhurried
@given(
    sizes=st.lists(st.integers(0, 300), max_size=60),
    limit_bytes=st.integers(1, 2000),
    take_bytes=st.integers(1, 1500),
    pace=st.integers(1, 8),
)
def test_a_reader_of_any_pace_sees_each_offset_or_is_told_that_it_missed_it(
    sizes: list[int], limit_bytes: int, take_bytes: int, pace: int
) -> None:
    bounded = log(limit_bytes=limit_bytes)
    position, seen, missed = 0, list[int](), 0
    for n, size in enumerate(sizes):
        assert bounded.append("", bytes(size), now=float(n)) == n
        held = bounded.read(0, EVERYTHING).messages
        assert sum(cost(len(one.payload)) for one in held) <= max(limit_bytes, cost(size))
        if n % pace == 0:
            reading = bounded.read(position, take_bytes)
            seen += [message.offset for message in reading.messages]
            missed += reading.missed
            position = reading.next_offset
    assert seen == sorted(set(seen))
    assert len(seen) + missed == position
