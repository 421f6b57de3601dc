"""What cannot be read is kept with its reason."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramedic.ingest.batch.decode import decode
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import (
    BusUnavailableError,
    ContractError,
    Message,
    Start,
    Topic,
)
from paramedic.ingest.dead_letters import DeadLetter, DeadLetters

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def unreadable(payload: bytes) -> Message:
    return Message(Topic.TELEMETRY, "job/0", payload, offset=12, partition=3)


def buried(bus: MemoryBus) -> list[DeadLetter]:
    messages = bus.subscribe([Topic.DEAD_LETTER], Start.EARLIEST).poll(0)
    return [DeadLetter.from_json(message.payload) for message in messages]


def test_a_message_that_cannot_be_read_is_kept_with_the_reason() -> None:
    bus = MemoryBus()
    letters = DeadLetters(bus.publisher())
    message = unreadable(b"\xffnonsense")
    with pytest.raises(ContractError) as caught:
        decode(message.payload)
    letters.bury(message, caught.value)
    (letter,) = buried(bus)
    assert "expected b'PTB1'" in letter.reason
    assert letter == DeadLetter(Topic.TELEMETRY, "job/0", 3, 12, letter.reason, b"\xffnonsense", 9)
    assert letters.count == 1


def test_of_a_huge_message_the_beginning_is_kept_and_its_length() -> None:
    bus = MemoryBus()
    DeadLetters(bus.publisher()).bury(unreadable(bytes(1_000_000)), "too odd")
    (letter,) = buried(bus)
    assert (len(letter.payload), letter.payload_bytes) == (256 * 1024, 1_000_000)


def test_a_dead_letter_that_the_bus_does_not_take_is_the_callers_to_know() -> None:
    bus = MemoryBus()
    letters = DeadLetters(bus.publisher())
    bus.fail("gone")
    with pytest.raises(BusUnavailableError, match="gone"):
        letters.bury(unreadable(b""), "unreadable")


@unhurried
@given(st.binary(max_size=80))
def test_arbitrary_bytes_are_no_dead_letter(noise: bytes) -> None:
    with pytest.raises(ContractError, match="not a dead letter"):
        DeadLetter.from_json(noise)
