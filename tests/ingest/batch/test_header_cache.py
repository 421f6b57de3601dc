"""What was read before is known again, and never answers for anything else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.batch.header import Header, read_header
from paramedic.ingest.batch.header_cache import HeaderCache
from paramedic.ingest.contract import ContractError

TABLE = {
    "columns": [{"metric": "gpu_power_watts", "type": "f4"}],
    "entity": "gpu",
    "indices": [0, 1],
    "nodes": ["a", "a"],
}


def header(**changes: Any) -> bytes:
    fields = {"generation": 0, "job": "j", "second": 1, "tables": [TABLE], "version": 1, **changes}
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def answer(read: Any, data: bytes) -> Header | str:
    """The header, or what is wrong with it."""
    try:
        found: Header = read(data)
    except ContractError as error:
        return str(error)
    return found


def test_names_are_the_same_objects_second_after_second() -> None:
    cache = HeaderCache()
    first, second = cache.read(header(second=1)), cache.read(header(second=2, generation=7))
    assert (second.second, second.generation) == (2, 7)
    assert second.tables is first.tables
    assert cache.read(header(job="other")).tables is first.tables


def test_other_names_are_other_objects() -> None:
    cache = HeaderCache()
    first = cache.read(header())
    moved = cache.read(header(tables=[{**TABLE, "nodes": ["a", "b"]}]))
    assert moved.tables[0].nodes == ("a", "b")
    assert cache.read(header(second=2)).tables is first.tables


@pytest.mark.parametrize(
    "data",
    [
        b'{"generation":0,"job":"j","second":1,"tables":[],"version":1,"second":5}',
        b'{"generation":0,"job":"j","second":1,"tables":[],"version":1,"\\u006aob":"k"}',
        b'{"generation":0,"job":"j","second":1,"tables":[],"version":1,"generation":4}',
        b'{"generation":0,"job":"\\u006a","second":1,"tables":[],"version":1}',
        b'{ "generation":0,"job":"j","second":1,"tables":[],"version":1}',
        b'{"generation":00,"job":"j","second":1,"tables":[],"version":1}',
        b'{"generation":0,"job":"j","second":1.0,"tables":[],"version":1}',
        b'{"generation":4294967296,"job":"j","second":1,"tables":[],"version":1}',
        b'{"generation":0,"job":"\xff","second":1,"tables":[],"version":1}',
        b'{"generation":0,"job":"j","second":1,"tables":[],"version":1}x',
        b'{"generation":0,"job":"j","second":1,"tables":[],"version":2}',
    ],
)
def test_an_odd_header_says_the_same_with_and_without_a_past(data: bytes) -> None:
    cache = HeaderCache()
    cache.read(b'{"generation":0,"job":"j","second":1,"tables":[],"version":1}')
    wanted = answer(read_header, data)
    for _ in range(2):
        told = answer(cache.read, data)
        assert told == wanted or isinstance(told, str) == isinstance(wanted, str) is True


senders = st.builds(
    header,
    generation=st.integers(0, 3) | st.just(2**32),
    job=st.text(max_size=4),
    second=st.integers(0, 3) | st.just(-1),
    shard=st.integers(0, 1),
    shards=st.integers(1, 2),
    tables=st.sampled_from([[], [TABLE], [{**TABLE, "nodes": ["a", "b"]}], [{}]]),
)


@given(st.lists(senders, max_size=8))
def test_any_past_leaves_the_answer_as_it_is(sent: list[bytes]) -> None:
    cache = HeaderCache(limit_bytes=600)
    for data in sent:
        assert answer(cache.read, data) == answer(read_header, data)
        assert cache.held_bytes <= 600


def test_what_was_not_needed_for_long_is_forgotten() -> None:
    one = [{**TABLE, "nodes": ["a", "node-1"]}]
    cache = HeaderCache(limit_bytes=5 * len(header(tables=one)))
    kept = cache.read(header(tables=one)).tables
    for at in range(2, 9):
        cache.read(header(tables=[{**TABLE, "nodes": ["a", f"node-{at}"]}]))
        assert cache.read(header(tables=one)).tables is kept
    for at in range(2, 9):
        cache.read(header(tables=[{**TABLE, "nodes": ["b", f"node-{at}"]}]))
    assert cache.read(header(tables=one)).tables is not kept


def test_a_header_that_would_take_all_the_room_is_not_kept() -> None:
    cache = HeaderCache(limit_bytes=100)
    cache.read(header())
    assert cache.held_bytes == 0


def test_headers_that_are_looked_up_alike_are_not_taken_for_each_other() -> None:
    """One byte differs between the bytes by which headers are looked up."""
    cache = HeaderCache()
    names = [f"node-{at:04d}" for at in range(500)]
    tables = [{**TABLE, "nodes": names, "indices": [0] * len(names)}]
    one = header(tables=tables)
    for at in range(one.index(b"node-0000"), one.index(b"node-0001"), 1):
        other = one[:at] + b"x" + one[at + 1 :]
        assert answer(cache.read, one) == answer(read_header, one)
        assert answer(cache.read, other) == answer(read_header, other)
    assert cache.read(one).tables[0].nodes == tuple(names)
