"""The control protocol's lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.remediation.trainer import control_messages
from paramedic.remediation.trainer.control_messages import (
    Abort,
    Assign,
    CheckpointResult,
    Stop,
    Unknown,
    parse_message,
)
from paramedic.remediation.trainer.errors import ControlMessageError

ASSIGN = {"type": "assign", "generation": 0, "rank": 1, "world_size": 4, "store_port": 4000}


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def test_an_assignment_is_read() -> None:
    message = parse_message(
        line(
            type="assign",
            generation=2,
            rank=1,
            world_size=4,
            store_host="127.0.0.1",
            store_port=4000,
        )
    )
    assert message == Assign(2, 1, 4, "127.0.0.1", 4000)


def test_rank_0_opens_the_store_itself() -> None:
    message = parse_message(
        line(type="assign", generation=0, rank=0, world_size=1, store_host=None, store_port=None)
    )
    assert message == Assign(0, 0, 1, "127.0.0.1", None)


def test_abort_and_stop_are_read() -> None:
    assert parse_message(line(type="abort", generation=3)) == Abort(3)
    assert parse_message(line(type="stop")) == Stop()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("a bad batch\nand more of it"), "ValueError: a bad batch"),
        (KeyError(), "KeyError"),
        (OSError("x" * 1000), f"OSError: {'x' * 300}"),
    ],
)
def test_an_error_is_told_by_its_name_and_first_line(error: Exception, told: str) -> None:
    assert json.loads(control_messages.raised(error)) == {"type": "raised", "error": told}


def test_a_newer_protocol_s_message_is_not_an_error() -> None:
    assert parse_message(line(type="snapshot", depth=3)) == Unknown("snapshot")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"type": "abort"}, "generation is None"),
        ({"type": "abort", "generation": True}, "generation is True"),
        ({"type": "abort", "generation": -1}, "generation is -1"),
        ({"type": "assign", "generation": 0, "rank": 4, "world_size": 4}, "rank 4 does not fit"),
        ({"type": "assign", "generation": 0, "rank": 1, "world_size": 4}, "no store_port"),
        (ASSIGN | {"store_port": 65536}, "store_port is 65536, not a whole number from 1 to 65535"),
        (ASSIGN | {"store_port": 0}, "store_port is 0"),
        (ASSIGN | {"store_port": "4000"}, "store_port is '4000'"),
        (ASSIGN | {"rank": 1.0}, r"rank is 1\.0"),
        (ASSIGN | {"world_size": 0}, "world_size is 0"),
        (ASSIGN | {"world_size": 2**31}, "world_size is 2147483648"),
        (ASSIGN | {"generation": [0] * 10_000}, r"generation is \[0, 0"),
    ],
)
def test_a_message_that_makes_no_sense_is_refused(fields: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ControlMessageError, match=complaint):
        parse_message(json.dumps(fields).encode())


@pytest.mark.parametrize(
    "hostile",
    [
        b"[" * 100_000,
        b'{"type": "abort", "generation": ' + b"9" * 10_000 + b"}",
        b'{"type": "abort", "generation": NaN}',
        b'{"type": "abort", "generation": 1}{"type": "stop"}',
        b'{"type": "abort", "generation"',
        b"\xff\xfe",
        b"",
        b"null",
    ],
    ids=["deep", "long number", "nan", "two on a line", "torn", "no UTF-8", "empty", "null"],
)
def test_a_hostile_line_is_refused_in_a_few_words(hostile: bytes) -> None:
    with pytest.raises(ControlMessageError) as refusal:
        parse_message(hostile)
    assert len(str(refusal.value)) < 400


_JSON = st.none() | st.booleans() | st.integers(-2, 2**40) | st.floats() | st.text(max_size=3)


@settings(max_examples=60)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(ASSIGN.keys() - {"type"}, _JSON)))
def test_an_assignment_of_anything_makes_sense_or_is_refused(changes: dict[str, Any]) -> None:
    try:
        message = parse_message(json.dumps(ASSIGN | changes).encode())
    except ControlMessageError:
        return
    assert isinstance(message, Assign)
    assert 0 <= message.rank < message.world_size < 2**31
    assert message.generation >= 0
    assert message.store_port is None or 0 < message.store_port < 2**16
    assert message.rank == 0 or message.store_port is not None


@settings(max_examples=50)
@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_give_a_message_or_a_control_message_error(data: bytes) -> None:
    try:
        message = parse_message(data)
    except ControlMessageError:
        message = None
    assert message is None or isinstance(message, Assign | Abort | Stop | Unknown)


def test_reports_are_one_json_object_a_line() -> None:
    lines = [
        control_messages.hello("n", 1),
        control_messages.ready("n"),
        control_messages.store(0, 4000),
        control_messages.failed(0, "two\nlines", 4),
        control_messages.committed(0, 5),
        control_messages.checkpoint(0, 5, CheckpointResult.SAVED, "r"),
        control_messages.finished(9),
    ]
    parsed = [json.loads(one) for one in lines]
    assert all(one.endswith(b"\n") and one.count(b"\n") == 1 for one in lines)
    assert [one["type"] for one in parsed] == [
        "hello",
        "ready",
        "store",
        "failed",
        "committed",
        "checkpoint",
        "finished",
    ]
    assert parsed[5]["result"] == "saved"


def test_a_failure_before_any_step_tells_no_step() -> None:
    assert "step" not in json.loads(control_messages.failed(0, "r", None))
