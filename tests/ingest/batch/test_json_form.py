"""JSON batches at the door: the same record, the same limits, and one error for whatever is not."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.batch.decode import decode
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.json_form import read_batch, read_json, write_json
from paramedic.ingest.batch.schema import layout
from paramedic.ingest.contract import (
    ContractError,
    Entity,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)

PAGE = Path(__file__).parents[3] / "docs" / "telemetry-batch.md"
NODES = (NodeName("node-0001"), NodeName("nöde-2"))
BATCH = TelemetryBatch(
    job=JobName("llama-7b"),
    generation=3,
    second=1_780_000_000,
    tables=(
        Table(Entity.NODE, NODES, None, {"load_average": (1.5, math.nan)}),
        Table(Entity.GPU, NODES, (0, 7), {"gpu_power_watts": (412.0, 0.25), "step": (7.0, 8.0)}),
    ),
    shard=1,
    shards=4,
)


def same(one: TelemetryBatch, other: TelemetryBatch) -> bool:
    """Equal, where NaN is equal to NaN."""
    return repr(_plain(one)) == repr(_plain(other))


def _plain(batch: TelemetryBatch) -> object:
    tables = [
        (table.entity, table.nodes, table.indices, {m: list(v) for m, v in table.columns.items()})
        for table in batch.tables
    ]
    return batch.job, batch.generation, batch.second, batch.shard, batch.shards, tables


def test_a_batch_survives_the_way_through_json() -> None:
    assert same(read_json(write_json(BATCH)), BATCH)


def test_both_forms_are_one_at_the_door() -> None:
    from_json, from_binary = read_batch(write_json(BATCH)), read_batch(encode(BATCH))
    assert same(from_json, from_binary)


@pytest.mark.parametrize("blanks", [b"", b" ", b"\n\t "])
def test_json_is_known_by_its_beginning(blanks: bytes) -> None:
    assert read_batch(blanks + write_json(BATCH)).job == "llama-7b"


def test_what_is_neither_form_is_refused_as_the_binary_one() -> None:
    with pytest.raises(ContractError, match="starts with"):
        read_batch(b"nonsense")


def test_the_example_of_the_documentation_is_a_batch() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    batch = read_batch(example.encode())
    assert batch.job == "llama-7b"
    assert {table.entity for table in batch.tables} == set(Entity)
    assert decode(encode(batch)).second == batch.second


def test_generation_and_indices_of_nodes_may_be_left_out() -> None:
    plain = {"job": "j", "second": 1, "tables": [{"entity": "node", "nodes": [], "columns": {}}]}
    batch = read_json(json.dumps(plain).encode())
    assert (batch.generation, batch.shards) == (0, 1)


def with_(**changes: Any) -> bytes:
    fields: dict[str, Any] = {"job": "j", "second": 1, "tables": []}
    return json.dumps({**fields, **changes}).encode()


def with_table(**changes: Any) -> bytes:
    table = {"entity": "gpu", "nodes": ["a"], "indices": [0], "columns": {"m": [1]}}
    return with_(tables=[{**table, **changes}])


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        (b"{", "not JSON"),
        (b"{\xff}", "not JSON"),
        (b'{"second": NaN}', "NaN is no JSON: write null"),
        (b"{" + b'"a":[' * 100_000, "not JSON"),
        (with_(job=""), "field job is ''"),
        (with_(second="1"), "field second is '1'"),
        (with_(version=2), "field version is 2"),
        (with_(tables={}), "field tables is {}"),
        (with_(shards=2, shard=2), "field shard is 2"),
        (with_(tables=[3]), r"tables\[0\] is 3, expected an object"),
        (with_table(columns=[1]), r"tables\[0\].columns is \[1\], expected an object"),
        (with_table(columns={"m": [1, 2]}), r"columns\['m'\] is \[1, 2\], expected a list of 1"),
        (with_table(columns={"m": 1}), r"columns\['m'\] is 1"),
        (with_table(columns={"m": ["1"]}), r"columns\['m'\] holds '1', expected numbers and nulls"),
        (with_table(columns={"m": [True]}), "holds True"),
        (with_table(columns={"m": [10**400]}), "a number of 401 digits"),
        (with_table(columns={"m": [1]}).replace(b"[1]", b"[-1e400]"), "holds -inf, expected"),
        (with_table(columns={"": [1]}), "metric is ''"),
        (with_table(entity="rack"), "entity is 'rack'"),
        (with_table(indices=[0.5]), "indices is 0.5"),
        (with_table(nodes="a"), "nodes is 'a'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(payload: bytes, complaint: str) -> None:
    with pytest.raises(ContractError, match=complaint):
        read_batch(payload)


def test_json_beyond_the_limit_is_not_even_parsed() -> None:
    with pytest.raises(ContractError, match="bytes of JSON, allowed are"):
        read_json(b"{" + b" " * layout().body_limit_bytes + b"}")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.just("columns"), inner, max_size=3)
    ),
    max_leaves=4,
)
keys = st.sampled_from(["job", "second", "generation", "tables", "version", "shard", "shards"])


@given(st.dictionaries(keys, values), st.dictionaries(st.sampled_from(["entity", "nodes"]), values))
def test_nothing_else_is_ever_raised(changes: dict[str, Any], table: dict[str, Any]) -> None:
    for payload in (with_(**changes), with_table(**table)):
        with suppress(ContractError):
            read_batch(payload)
