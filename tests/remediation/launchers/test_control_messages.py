"""The control protocol's lines: what is read, what is refused, what is written."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.launchers.local.fields import MessageError
from paramedic.remediation.launchers.local.line_protocol import LineBuffer, LineTooLongError
from paramedic.remediation.launchers.local.messages import (
    Abort,
    Assign,
    Checkpoint,
    CheckpointResult,
    Committed,
    Failed,
    Finished,
    FromOperator,
    FromWorker,
    Hello,
    Observe,
    OutcomeReply,
    Ping,
    PlacementsReply,
    Pong,
    Raised,
    Ready,
    Replace,
    Stop,
    Store,
    encode,
    read_reply,
    read_request,
)
from paramedic.remediation.launchers.port import Effect, Placement

NODE = NodeName("node-0001")

REQUESTS: list[tuple[str, FromWorker | FromOperator]] = [
    ('{"type": "hello", "node": "node-0001", "process_id": 7}', Hello(NODE, 7)),
    ('{"type": "ready", "node": "node-0001"}', Ready(NODE)),
    ('{"type": "store", "generation": 1, "port": 4000}', Store(1, 4000)),
    ('{"type": "failed", "generation": 1, "reason": "reset"}', Failed(1, "reset")),
    ('{"type": "failed", "generation": 1}', Failed(1, "no reason given")),
    (
        '{"type": "failed", "generation": 1, "reason": "reset", "step": 9}',
        Failed(1, "reset", 9),
    ),
    ('{"type": "committed", "generation": 1, "step": 9}', Committed(1, 9)),
    (
        '{"type": "checkpoint", "generation": 1, "step": 9, "result": "saved", "reason": null}',
        Checkpoint(1, 9, CheckpointResult.SAVED),
    ),
    ('{"type": "finished", "step": 9}', Finished(9)),
    ('{"type": "finished", "step": -1}', Finished(-1)),
    (
        (
            '{"type": "replace", "node": "node-0001", "generation": 1,'
            ' "idempotency_key": "k", "reason": "hang"}'
        ),
        Replace(NODE, 1, "k", "hang"),
    ),
    ('{"type": "pong"}', Pong()),
    ('{"type": "raised", "error": "ValueError: no"}', Raised("ValueError: no")),
    ('{"type": "observe", "a field of tomorrow": 1}', Observe()),
]


@pytest.mark.parametrize(("line", "message"), REQUESTS)
def test_the_documented_lines_are_read(line: str, message: FromWorker | FromOperator) -> None:
    assert read_request(line.encode()) == message
    assert read_request(encode(message)) == message


@pytest.mark.parametrize(
    "line",
    [
        "",
        "null",
        "[]",
        "{",
        '{"type": "dance"}',
        '{"type": null}',
        '{"type": "hello", "node": "", "process_id": 7}',
        '{"type": "hello", "node": "node-0001"}',
        '{"type": "finished", "step": -2}',
        '{"type": "store", "generation": 1, "port": 4000.5}',
        '{"type": "store", "generation": true, "port": 4000}',
        '{"type": "committed", "generation": -1, "step": 0}',
        '{"type": "committed", "generation": NaN, "step": 0}',
        '{"type": "checkpoint", "generation": 0, "step": 0, "result": "lost"}',
        "[" * 60_000,
        '{"type": "finished", "step": ' + "9" * 10_000 + "}",
    ],
)
def test_other_lines_are_refused_with_a_reason(line: str) -> None:
    with pytest.raises(MessageError, match=r"."):
        read_request(line.encode())


def test_a_text_that_no_log_can_hold_is_made_readable() -> None:
    line = b'{"type": "failed", "generation": 1, "reason": "bad \\udcff"}'
    assert read_request(line) == Failed(1, "bad ?")


def test_the_refusal_names_the_field_and_what_was_found() -> None:
    with pytest.raises(MessageError, match=r"port: a whole number is needed, found 'x'"):
        read_request(b'{"type": "store", "generation": 1, "port": "x"}')


@given(st.binary(max_size=300))
def test_no_line_does_more_than_be_refused(line: bytes) -> None:
    with suppress(MessageError):
        read_request(line)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(
    ["node", "process_id", "generation", "port", "step", "reason", "result", "job"]
)


@given(
    st.sampled_from(
        ["hello", "ready", "store", "failed", "committed", "checkpoint", "replace", "raised"]
    ),
    st.dictionaries(names, json_values),
)
def test_no_field_does_more_than_be_refused(kind: str, fields: dict[str, object]) -> None:
    line = json.dumps({**fields, "type": kind}).encode()
    try:
        message = read_request(line)
    except MessageError:
        return
    assert read_request(encode(message)) == message


def test_what_is_sent_to_workers_is_as_documented() -> None:
    assign = json.loads(encode(Assign(2, 0, 4, "127.0.0.1", None)))
    assert assign == {
        "type": "assign",
        "generation": 2,
        "rank": 0,
        "world_size": 4,
        "store_host": "127.0.0.1",
        "store_port": None,
    }
    assert json.loads(encode(Abort(2))) == {"type": "abort", "generation": 2}
    assert encode(Stop()) == b'{"type": "stop"}\n'
    assert encode(Ping()) == b'{"type": "ping"}\n'


def test_answers_are_read_as_they_were_written() -> None:
    outcome = OutcomeReply(Effect.ALREADY_DONE, "k was applied before")
    placements = PlacementsReply(
        JobName("demo"), 3, (Placement(NODE, 1, 77, 3, 12), Placement(NODE, None, None, 0))
    )
    assert read_reply(encode(outcome)) == outcome
    assert read_reply(encode(placements)) == placements
    with pytest.raises(MessageError):
        read_reply(b'{"type": "stop"}')


@given(st.lists(st.binary(max_size=20)), st.integers(1, 7))
def test_lines_are_the_same_however_they_are_cut(lines: list[bytes], size: int) -> None:
    whole = [line.replace(b"\n", b"") for line in lines]
    stream = b"".join(line + b"\n" for line in whole)
    buffer = LineBuffer(limit_bytes=20)
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    read = [line for piece in pieces for line in buffer.feed(piece)]
    assert read == [line for line in whole if line.strip()]


@pytest.mark.parametrize("data", [b"x" * 21, b"x" * 21 + b"\n", b"a\n" + b"x" * 21])
def test_a_line_beyond_the_bound_is_refused_whether_it_ends_or_not(data: bytes) -> None:
    with pytest.raises(LineTooLongError, match="21 bytes, the bound is 20"):
        LineBuffer(limit_bytes=20).feed(data)
