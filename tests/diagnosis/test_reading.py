"""Messages of any content: a fact, or a ContractError that says what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.synthetic import JOB, Scene, exit_of
from paramedic.diagnosis.reading import read
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.contract import ContractError, Message, Topic


def message(topic: Topic, payload: bytes) -> Message:
    return Message(topic, JOB, payload, 0)


def test_telemetry_and_events_are_read() -> None:
    (batch,) = Scene(seconds=1).batches()
    fact = read(message(Topic.TELEMETRY, encode(batch))).fact
    assert (fact.job, fact.generation) == (JOB, 0)
    event = exit_of(2, 10)
    assert read(message(Topic.EVENTS, event.to_json())).fact == event


@given(st.sampled_from([Topic.TELEMETRY, Topic.EVENTS]), st.binary(max_size=200))
def test_bytes_of_any_kind_are_refused_and_break_nothing(topic: Topic, payload: bytes) -> None:
    with pytest.raises(ContractError):
        read(message(topic, payload))
