"""What comes from the bus is read whole or refused."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.diagnosis.contract import Verdict
from paramedic.ingest.contract import Event, EventKind, Message, Topic
from paramedic.remediation.intake import UnreadableMessageError, VerdictMessage, read

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def message(topic: Topic, payload: bytes) -> Message:
    return Message(topic, "llama/0", payload, offset=7)


def test_a_verdict_is_read_with_its_bytes(verdict_of: Callable[..., Verdict]) -> None:
    verdict = verdict_of()
    found = read(message(Topic.VERDICTS, verdict.to_json() + b"\n"))
    assert found == VerdictMessage(verdict, verdict.to_json())


def test_an_event_is_read(event_of: Callable[..., Event]) -> None:
    event = event_of(1, EventKind.JOB_STATE, state="training", step=4)
    assert read(message(Topic.EVENTS, event.to_json())) == event


def test_other_topics_are_nothing_to_us() -> None:
    assert read(message(Topic.TELEMETRY, b"\x00")) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", None),
        ("id", ""),
        ("job", 7),
        ("node", 7),
        ("members", [7]),
        ("generation", "0"),
        ("generation", 2**70),
        ("confidence", "high"),
        ("confidence", 1.5),
        ("confidence", True),
        ("summary", None),
        ("status", "smouldering"),
        ("onset", "2026-01-01T00:00:00"),
    ],
)
def test_a_verdict_with_a_field_that_cannot_be_is_refused(
    verdict_of: Callable[..., Verdict], field: str, value: object
) -> None:
    payload = json.dumps({**verdict_of().to_dict(), field: value}).encode()
    with pytest.raises(UnreadableMessageError, match=r"verdicts\.v1 0/7"):
        read(message(Topic.VERDICTS, payload))


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "job_state", "state": "dreaming"},
        {"kind": "job_state", "state": ["training"]},
        {"kind": "job_state"},
        {"kind": "membership", "change": "replaced_by", "node": "node-0001"},
        {"kind": "membership", "change": "joined", "node": 7},
        {"kind": "process_exit", "rank": "one"},
        {"kind": "checkpoint", "step": 1.5},
        {"kind": "checkpoint", "generation": -1},
        {"kind": "checkpoint", "job": ""},
        {"kind": "birthday"},
    ],
)
def test_an_event_with_a_field_that_cannot_be_is_refused(fields: dict[str, object]) -> None:
    event = {"timestamp": "2026-01-01T00:00:00Z", "job": "llama", **fields}
    with pytest.raises(UnreadableMessageError, match=r"events\.v1 0/7"):
        read(message(Topic.EVENTS, json.dumps(event).encode()))


@given(st.sampled_from([Topic.VERDICTS, Topic.EVENTS]), st.binary(max_size=40))
def test_no_bytes_break_the_reader(topic: Topic, payload: bytes) -> None:
    with pytest.raises(UnreadableMessageError):
        read(message(topic, payload))


@settings(max_examples=40)
@given(st.data())
def test_no_damaged_verdict_breaks_the_reader(
    verdict_of: Callable[..., Verdict], data: st.DataObject
) -> None:
    fields = verdict_of().to_dict()
    name = data.draw(st.sampled_from(sorted(fields)))
    fields[name] = data.draw(JSON)
    try:
        found = read(message(Topic.VERDICTS, json.dumps(fields).encode()))
    except UnreadableMessageError:
        return
    assert isinstance(found, VerdictMessage)
