"""A verdict is read from one line of JSON, whoever wrote it; what is none is refused as such."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.playing import diagnose
from diagnosis.synthetic import JOB, exit_of
from paramedic.diagnosis.contract import Verdict, VerdictFormatError

(VERDICT,) = diagnose([exit_of(1, 5.0)])
FIELDS: dict[str, Any] = json.loads(VERDICT.to_json())
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


def test_what_was_written_is_read_again() -> None:
    assert Verdict.from_json(VERDICT.to_json()) == VERDICT


def test_a_message_that_is_nested_without_end_is_no_verdict() -> None:
    with pytest.raises(VerdictFormatError, match="RecursionError"):
        Verdict.from_json(b'{"a":' * 50_000)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", 7),
        ("job", []),
        ("generation", "0"),
        ("node", 3),
        ("gpu", "0"),
        ("gpu", True),
        ("members", [7]),
        ("confidence", "0.9"),
        ("summary", None),
        ("candidates", [{"node": 1, "score": 2.0}]),
        ("candidates", [{"node": "a"}]),
        ("evidence", [{"metric": "m"}]),
        ("action", {"recommended": "none", "reason": 4}),
        ("rank", 1.5),
        ("onset", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_a_field_of_another_type_is_no_verdict_and_is_named(name: str, value: object) -> None:
    with pytest.raises(VerdictFormatError):
        Verdict.from_json(json.dumps({**FIELDS, name: value}).encode())


@given(st.sampled_from(sorted(FIELDS)), anything)
def test_whatever_a_field_holds_it_is_a_verdict_or_refused(name: str, value: object) -> None:
    payload = json.dumps({**FIELDS, name: value}).encode()
    try:
        verdict = Verdict.from_json(payload)
    except VerdictFormatError:
        return
    assert hash((verdict.job, verdict.id, verdict.node, verdict.members))


def test_fields_of_newer_writers_are_passed_over() -> None:
    payload = json.dumps({**FIELDS, "mood": "calm"}).encode()
    assert Verdict.from_json(payload).job == JOB
