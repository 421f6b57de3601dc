"""Events on the wire: what is written is read again, and whatever else comes is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.contract import ContractError, Event, EventKind, JobName, NodeName

_SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
_JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner)
)
_COMMON = ("timestamp", "kind", "job", "node", "gpu", "rank", "generation")


def _moment(microseconds: int, zone_hours: int) -> datetime:
    begun = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    return begun.astimezone(timezone(timedelta(hours=zone_hours)))


_EVENTS = st.builds(
    Event,
    timestamp=st.builds(_moment, st.integers(0, 10**16), st.integers(-12, 12)),
    kind=st.sampled_from(EventKind),
    job=st.text(min_size=1).map(JobName),
    node=st.none() | st.text(min_size=1).map(NodeName),
    gpu=st.none() | st.integers(),
    rank=st.none() | st.integers(),
    generation=st.none() | st.integers(),
    details=st.dictionaries(st.text().filter(lambda key: key not in _COMMON), _SCALARS),
)
FIELDS: dict[str, object] = {
    "timestamp": "2026-01-01T00:11:12Z",
    "kind": "process_exit",
    "job": "llama-7b",
    "node": "node-0002",
    "rank": 2,
    "signal": 9,
}


def line(**changed: object) -> bytes:
    return json.dumps({**FIELDS, **changed}).encode()


@given(_EVENTS)
def test_an_event_survives_the_wire(event: Event) -> None:
    assert Event.from_json(event.to_json()) == event
    assert b"\n" not in event.to_json()


def test_times_are_written_in_utc() -> None:
    moment = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    fields = json.loads(Event(moment, EventKind.XID, JobName("j")).to_json())
    assert fields["timestamp"] == "2026-01-01T00:00:00Z"
    assert Event.from_json(line()).timestamp == datetime(2026, 1, 1, 0, 11, 12, tzinfo=UTC)


@pytest.mark.parametrize("field", ["node", "gpu", "rank", "generation"])
@pytest.mark.parametrize("value", [["odd"], {}, True, 1.5])
def test_a_field_of_another_type_is_refused_and_named(field: str, value: object) -> None:
    with pytest.raises(ContractError, match=rf"{field} is .*, not (str|int)"):
        Event.from_json(line(**{field: value}))


@pytest.mark.parametrize(("field", "value"), [("node", 7), ("rank", "2"), ("job", None)])
def test_text_is_no_number_and_a_number_no_text(field: str, value: object) -> None:
    with pytest.raises(ContractError, match=f"{field} is"):
        Event.from_json(line(**{field: value}))


@pytest.mark.parametrize("field", ["node", "job"])
def test_a_name_is_not_empty(field: str) -> None:
    with pytest.raises(ContractError, match=f"{field} is empty"):
        Event.from_json(line(**{field: ""}))


@pytest.mark.parametrize("field", ["timestamp", "kind", "job"])
def test_what_every_event_has_may_not_be_missing(field: str) -> None:
    payload = json.dumps({key: v for key, v in FIELDS.items() if key != field}).encode()
    with pytest.raises(ContractError, match=f": '{field}' is missing$"):
        Event.from_json(payload)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"[]",
        b"7",
        b"\xff\xfe",
        b"[" * 100_000,
        line(timestamp="2026-01-01T00:11:12"),
        line(timestamp="0001-01-01T00:00:00+14:00"),
        line(timestamp=1_780_000_000),
        line(kind="pondering"),
    ],
    ids=["nothing", "list", "number", "no text", "deep", "no zone", "year 0", "no time", "kind"],
)
def test_what_is_no_event_is_refused(payload: bytes) -> None:
    with pytest.raises(ContractError, match="not an event"):
        Event.from_json(payload)


@pytest.mark.long
@given(st.sampled_from(_COMMON), _JSON)
def test_a_field_of_any_content_is_an_event_or_refused(field: str, value: object) -> None:
    try:
        event = Event.from_json(line(**{field: value}))
    except ContractError:
        return
    hash((event.job, event.node, event.gpu, event.rank, event.generation))


def test_details_of_a_newer_writer_are_left_out_and_the_rest_is_read() -> None:
    event = Event.from_json(line(stack=["main", "step"], exit_code=None))
    assert event.details == {"signal": 9, "exit_code": None}
