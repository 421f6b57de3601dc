"""Rows of many origins become one batch a job, shard and slot."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from ingest.collect.imagined import START, Host
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.collect.assembling import Assembler
from paramedic.ingest.collect.joining import joined
from paramedic.ingest.collect.routing import Routed
from paramedic.ingest.collect.sharing import Shard
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch

ONLY = Shard(JobName("j"), 0, 1)


def rows(name: str, second: int, shard: Shard = ONLY) -> list[Routed]:
    return [Routed(shard, second, Host(name).page(second).tables[0])]


def nodes(batches: list[TelemetryBatch]) -> list[tuple[int, list[str]]]:
    return [
        (batch.second - START, sorted({node for t in batch.tables for node in t.nodes}))
        for batch in batches
    ]


def test_a_slot_goes_out_as_soon_as_everybody_who_lately_spoke_has_spoken() -> None:
    assembler = Assembler(1.0)
    for name in "abc":
        assert list(assembler.add(name, rows(name, START), 0.0)) == []
    assert nodes(list(assembler.due(1.0))) == [(0, ["a", "b", "c"])]
    sent = [
        nodes(list(assembler.add(name, rows(name, START + 1), 1.0 + at / 10)))
        for at, name in enumerate("abc")
    ]
    assert sent == [[], [], [(1, ["a", "b", "c"])]]
    assert assembler.next_due() is None


def test_what_comes_too_late_goes_in_a_further_batch_of_the_same_slot() -> None:
    assembler = Assembler(1.0)
    for name in "ab":
        list(assembler.add(name, rows(name, START), 0.0))
    list(assembler.due(1.0))
    list(assembler.add("a", rows("a", START + 1), 1.0))
    assert assembler.next_due() == 2.0
    assert nodes(list(assembler.due(2.0))) == [(1, ["a"])]
    list(assembler.add("b", rows("b", START + 1), 2.5))
    assert nodes(list(assembler.due(3.5))) == [(1, ["b"])]


def test_an_origin_that_stays_silent_is_not_waited_for_any_longer() -> None:
    assembler = Assembler(1.0)
    for name in "ab":
        list(assembler.add(name, rows(name, START), 0.0))
    list(assembler.due(1.0))
    waited = []
    for second in range(1, 8):
        sent = list(assembler.add("a", rows("a", START + second), float(second)))
        waited.append(not sent)
        list(assembler.due(second + 1.0))
    assert waited == [True] * 5 + [False] * 2


def test_an_older_slot_never_goes_out_after_a_newer_one_that_was_complete() -> None:
    assembler = Assembler(1.0)
    first = list(assembler.add("a", rows("a", START), 0.0))
    second = list(assembler.add("a", rows("a", START + 1), 0.1))
    assert (first, second) == ([], [])
    assert nodes(list(assembler.due(1.0))) == [(0, ["a"])]
    assert nodes(list(assembler.add("a", rows("a", START + 2), 1.05))) == [(1, ["a"]), (2, ["a"])]


def test_shards_of_a_slot_are_batches_of_their_own() -> None:
    assembler = Assembler(1.0)
    shards = [Shard(JobName("j"), number, 2) for number in (1, 0)]
    list(assembler.add("p", [*rows("a", START, shards[0]), *rows("b", START, shards[1])], 0.0))
    sent = list(assembler.due(1.0))
    assert [(one.shard, one.shards) for one in sent] == [(0, 2), (1, 2)]


def test_a_job_that_has_ended_is_forgotten() -> None:
    assembler = Assembler(1.0)
    list(assembler.add("a", rows("a", START), 0.0))
    list(assembler.due(1.0))
    assembler.forget(JobName("j"))
    assert list(assembler.add("b", rows("b", START + 1), 1.0)) == []


def test_columns_that_a_piece_lacks_are_not_observed_there() -> None:
    power = Table(Entity.NODE, (NodeName("a"),), None, {"load_average": (1.0,)})
    memory = Table(Entity.NODE, (NodeName("b"),), None, {"memory_used_ratio": (0.5,)})
    (table,) = joined([power, memory])
    assert table.nodes == ("a", "b")
    assert table.columns["load_average"][0] == 1.0
    assert math.isnan(table.columns["load_average"][1])
    assert math.isnan(table.columns["memory_used_ratio"][0])


def test_two_exporters_of_one_gpu_make_one_row() -> None:
    gpu = (NodeName("a"),), (3,)
    first = Table(Entity.GPU, *gpu, {"gpu_power_watts": (400.0,), "gpu_xid": (math.nan,)})
    second = Table(Entity.GPU, *gpu, {"gpu_power_watts": (1.0,), "gpu_xid": (79.0,)})
    (table,) = joined([first, second])
    assert table.nodes == ("a",)
    assert table.columns == {"gpu_power_watts": (400.0,), "gpu_xid": (79.0,)}


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.integers(0, 4), st.floats(0, 0.9, allow_nan=False)),
        max_size=30,
    )
)
def test_no_row_is_lost_and_every_batch_can_be_encoded(
    pages: list[tuple[str, int, float]],
) -> None:
    assembler = Assembler(1.0)
    now, sent, given_rows = 0.0, [], set()
    for name, second, later in pages:
        now += later
        sent += list(assembler.due(now))
        sent += list(assembler.add(name, rows(name, START + second), now))
        given_rows.add((second, name))
    sent += list(assembler.due(now + 1.0))
    assert {(at, name) for at, names in nodes(sent) for name in names} == given_rows
    for batch in sent:
        assert decode(encode(batch)).second == batch.second
