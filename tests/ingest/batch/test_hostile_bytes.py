"""Bytes from anywhere: the answer is a batch or a ContractError that says what and where."""

from __future__ import annotations

import json
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramedic.ingest.batch.decode import decode
from paramedic.ingest.batch.schema import layout
from paramedic.ingest.contract import ContractError

unhurried = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

GOLDEN = (Path(__file__).parents[1] / "golden" / "gpu_batch.golden").read_bytes()
HEADER: dict[str, Any] = {"generation": 0, "job": "j", "second": 1, "tables": [], "version": 1}
TABLE: dict[str, Any] = {"columns": [], "entity": "gpu", "indices": [0, 1], "nodes": ["a", "a"]}


def message(header: object, values: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return b"PTB1\x00" + struct.pack("<I", len(text)) + text + values


def survives(payload: bytes) -> None:
    """Decoding either works or raises the one error that callers expect."""
    with suppress(ContractError):
        decode(payload)


@unhurried
@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_nothing_else(noise: bytes) -> None:
    survives(noise)


@unhurried
@given(st.binary(max_size=200))
def test_arbitrary_bytes_behind_the_magic_raise_nothing_else(noise: bytes) -> None:
    survives(b"PTB1\x00" + noise)
    survives(b"PTB1\x01" + zlib.compress(noise))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.sampled_from([*HEADER, *TABLE]), inner, max_size=6)
    ),
    max_leaves=4,
)


@unhurried
@given(st.dictionaries(st.sampled_from(sorted(HEADER)), json_values), st.binary(max_size=16))
def test_arbitrary_headers_raise_nothing_else(changes: dict[str, Any], values: bytes) -> None:
    survives(message({**HEADER, **changes}, values))


@unhurried
@given(st.dictionaries(st.sampled_from(sorted(TABLE)), json_values), st.binary(max_size=16))
def test_arbitrary_tables_raise_nothing_else(changes: dict[str, Any], values: bytes) -> None:
    survives(message({**HEADER, "tables": [{**TABLE, **changes}]}, values))


@unhurried
@given(st.integers(0, len(GOLDEN) - 1), st.integers(0, 255))
def test_a_flipped_byte_raises_nothing_else(position: int, value: int) -> None:
    survives(GOLDEN[:position] + bytes((value,)) + GOLDEN[position + 1 :])


@pytest.mark.long
@unhurried
@given(st.integers(0, len(GOLDEN) - 1))
def test_every_truncation_is_refused(length: int) -> None:
    with pytest.raises(ContractError):
        decode(GOLDEN[:length])


def with_table(**changes: object) -> bytes:
    return message({**HEADER, "tables": [{**TABLE, **changes}]})


def column(metric: object, value_type: object = "f4") -> dict[str, object]:
    return {"metric": metric, "type": value_type}


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        (b"", "starts with b''"),
        (b"PTB2\x00", "PTB2"),
        (b"PTB1", "unknown compression None"),
        (b"PTB1\x07", "byte 4: unknown compression 7"),
        (b"PTB1\x00\x01", "a body of 1 bytes has no header"),
        (b"PTB1\x00" + struct.pack("<I", 2**32 - 1), "header of 4294967295 bytes"),
        (b"PTB1\x01nonsense", "not zlib"),
        (b"PTB1\x01" + zlib.compress(b"12345678")[:-2], "zlib body ends after"),
        (b"PTB1\x01" + zlib.compress(message(HEADER)[5:]) + b"x", "1 bytes follow the zlib body"),
        (message(b"{"), "header is not JSON"),
        (message(b"\xff"), "header is not JSON"),
        (message(b'{"version": NaN}'), "NaN is not JSON"),
        (message(b"[" * 100_000), "header is not JSON"),
        (message([]), r"field header is \[\]"),
        (message({**HEADER, "version": 2}), "field version is 2, expected 1"),
        (message({**HEADER, "version": True}), "field version is True"),
        (message({**HEADER, "job": 3}), "field job is 3"),
        (message({**HEADER, "job": "j" * 256}), "field job is"),
        (message({**HEADER, "generation": -1}), "field generation is -1"),
        (message({**HEADER, "second": 1.5}), "field second is 1.5"),
        (message({**HEADER, "second": True}), "field second is True"),
        (message({**HEADER, "second": 10**30}), "field second is 1000"),
        (message({**HEADER, "tables": None}), "field tables is None"),
        (message({**HEADER, "tables": [7]}), r"field tables\[0\] is 7"),
        (with_table(entity="rack"), r"tables\[0\].entity is 'rack'"),
        (with_table(entity=["gpu"]), r"tables\[0\].entity is \['gpu'\]"),
        (with_table(nodes="ab"), r"tables\[0\].nodes is 'ab'"),
        (with_table(nodes=["a", ""]), r"tables\[0\].nodes is ''"),
        (with_table(nodes=["a", "\ud800"]), "surrogate"),
        (with_table(indices=[0]), r"tables\[0\].indices is \[0\], expected a list of 2"),
        (with_table(indices=[0, False]), r"tables\[0\].indices is False"),
        (with_table(indices=[0, 2**31]), r"tables\[0\].indices is 2147483648"),
        (with_table(indices=[4, 4]), "no row twice"),
        (with_table(entity="node"), "null for node rows"),
        (with_table(columns={}), r"tables\[0\].columns is {}"),
        (with_table(columns=[3]), r"columns\[0\] is 3"),
        (with_table(columns=[column("a", "f2")]), r"columns\[0\].type is 'f2'"),
        (with_table(columns=[column(None)]), r"columns\[0\].metric is None"),
        (with_table(columns=[column("b"), column("a")]), "follows 'b'"),
        (with_table(columns=[column("a"), column("a")]), "ascending order"),
        (with_table(columns=[column("a")]), "announces 8 bytes of values, 0 follow"),
        (message(HEADER, b"x"), "announces 0 bytes of values, 1 follow"),
    ],
)
def test_a_malformed_batch_is_refused_with_what_and_where(payload: bytes, complaint: str) -> None:
    with pytest.raises(ContractError, match=complaint):
        decode(payload)


def test_a_zip_bomb_is_refused() -> None:
    bomb = b"PTB1\x01" + zlib.compress(bytes(layout().body_limit_bytes + 1), 1)
    assert len(bomb) < 100_000
    with pytest.raises(ContractError, match="larger than"):
        decode(bomb)


def test_an_oversized_body_is_refused_without_compression_too() -> None:
    with pytest.raises(ContractError, match="larger than"):
        decode(b"PTB1\x00" + bytes(layout().body_limit_bytes + 1))


def test_fields_of_a_later_version_are_passed_over() -> None:
    table = {**TABLE, "unit": "watts"}
    assert decode(message({**HEADER, "tables": [table], "cadence": 1})).job == "j"
