"""Pieces of a table together say what each of them said."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.collect.joining import joined
from paramedic.ingest.contract import Entity, NodeName, Table

METRICS = ("gpu_power_watts", "gpu_temperature_celsius", "gpu_sm_active_ratio")
ROW = st.tuples(st.sampled_from("abc"), st.integers(0, 3))
VALUE = st.one_of(st.just(math.nan), st.floats(0, 100, allow_nan=False))
Said = dict[tuple[str, int, str], float]


@st.composite
def pieces(draw: st.DrawFn) -> Table:
    rows = draw(st.lists(ROW, min_size=1, max_size=5, unique=True))
    metrics = draw(st.sets(st.sampled_from(METRICS)))
    columns = {metric: tuple(draw(VALUE) for _ in rows) for metric in sorted(metrics)}
    return Table(
        Entity.GPU,
        tuple(NodeName(node) for node, _ in rows),
        tuple(gpu for _, gpu in rows),
        columns,
    )


def said(table: Table) -> Said:
    """Every value that is there."""
    return {
        (node, gpu, metric): column[at]
        for metric, column in table.columns.items()
        for at, (node, gpu) in enumerate(zip(table.nodes, table.indices or (), strict=True))
        if not math.isnan(column[at])
    }


@given(st.lists(pieces(), min_size=1, max_size=4))
def test_a_joined_table_says_all_and_nothing_else(parts: list[Table]) -> None:
    (table,) = joined(parts)
    expected: Said = {}
    for part in parts:
        expected = {**said(part), **expected}  # the first that said it
    assert said(table) == expected
    rows = list(zip(table.nodes, table.indices or (), strict=True))
    assert len(set(rows)) == len(rows)
    assert set(rows) == {
        row for part in parts for row in zip(part.nodes, part.indices or (), strict=True)
    }
    assert all(len(column) == len(rows) for column in table.columns.values())


def test_each_entity_has_a_table_of_its_own() -> None:
    gpu = Table(Entity.GPU, (NodeName("a"),), (0,), {"gpu_power_watts": (1.0,)})
    node = Table(Entity.NODE, (NodeName("a"),), None, {"load_average": (2.0,)})
    assert joined([node, gpu, node]) == (gpu, node)
    assert joined([]) == ()
