"""Messages of any content: a fact, or a ContractError that says what is wrong."""

from __future__ import annotations

import json

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


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@given(st.sampled_from(["job", "node", "rank", "gpu", "generation", "timestamp", "kind"]), _JSON)
def test_a_field_of_any_content_is_a_fact_or_refused(field: str, value: object) -> None:
    fields = {**json.loads(exit_of(2, 10).to_json()), field: value}
    payload = json.dumps(fields).encode()
    try:
        fact = read(message(Topic.EVENTS, payload)).fact
    except ContractError:
        return
    hash((fact.job, fact.generation))


@pytest.mark.parametrize("field", ["job", "node", "rank", "generation"])
def test_the_reason_names_the_field(field: str) -> None:
    fields = {**json.loads(exit_of(2, 10).to_json()), field: ["odd"]}
    with pytest.raises(ContractError, match=field):
        read(message(Topic.EVENTS, json.dumps(fields).encode()))
