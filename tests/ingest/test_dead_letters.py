"""What cannot be read is kept with its reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramedic.ingest.batch.decode import decode
from paramedic.ingest.contract import ContractError, DeadLetter, Message, Topic

unhurried = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def unreadable(payload: bytes) -> Message:
    return Message(Topic.TELEMETRY, "job/0", payload, offset=12, partition=3)


def test_a_message_that_cannot_be_read_is_kept_with_the_reason() -> None:
    message = unreadable(b"\xffnonsense")
    with pytest.raises(ContractError) as caught:
        decode(message.payload)
    letter = DeadLetter.of(message, caught.value)
    assert "expected b'PTB1'" in letter.reason
    assert letter == DeadLetter(Topic.TELEMETRY, "job/0", 3, 12, letter.reason, b"\xffnonsense", 9)


def test_of_a_huge_message_the_beginning_is_kept_and_its_length() -> None:
    letter = DeadLetter.of(unreadable(bytes(1_000_000)), "too odd")
    assert (len(letter.payload), letter.payload_bytes) == (256 * 1024, 1_000_000)


@unhurried
@given(payload=st.binary(max_size=80), key=st.text(), reason=st.text())
def test_a_letter_is_one_line_of_json_that_reads_back(
    payload: bytes, key: str, reason: str
) -> None:
    letter = DeadLetter.of(Message(Topic.EVENTS, key, payload, 1), reason)
    line = letter.to_json()
    assert b"\n" not in line
    assert DeadLetter.from_json(line) == letter


@unhurried
@given(st.binary(max_size=80))
def test_arbitrary_bytes_are_no_dead_letter(noise: bytes) -> None:
    with pytest.raises(ContractError, match="not a dead letter"):
        DeadLetter.from_json(noise)


def test_json_without_end_is_no_dead_letter() -> None:
    with pytest.raises(ContractError, match="not a dead letter"):
        DeadLetter.from_json(b"[" * 100_000)


@pytest.mark.parametrize(
    ("field", "value"), [("topic", "elsewhere"), ("payload", "not base 64!"), ("payload", None)]
)
def test_a_letter_with_a_field_that_is_none_of_its_kind_is_refused(
    field: str, value: object
) -> None:
    fields = json.loads(DeadLetter.of(unreadable(b"x"), "odd").to_json())
    with pytest.raises(ContractError, match="not a dead letter"):
        DeadLetter.from_json(json.dumps({**fields, field: value}).encode())
