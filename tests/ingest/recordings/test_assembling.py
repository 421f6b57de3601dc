"""Rows become the batches that `collect` would have made of them; checked against plain Python."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.recordings.recorded import JOB
from paramedic.ingest.contract import Entity, NodeName, TelemetryBatch
from paramedic.ingest.recordings.assembling import SETTLE_SECONDS, Assembler
from paramedic.ingest.recordings.moment import MICROSECONDS, Moment
from paramedic.ingest.recordings.rows import Rows

NODES = [NodeName(name) for name in "abc"]
METRICS = ("m", "n")


@dataclass(frozen=True)
class Row:
    second: int
    generation: int
    arrived: float
    node: int
    gpu: int
    values: tuple[float, float]


values = st.sampled_from([math.nan, 1.0, 2.0, 3.0])
rows_of_any_kind = st.lists(
    st.builds(
        Row,
        second=st.integers(0, 2),
        generation=st.integers(0, 1),
        arrived=st.sampled_from([0.0, 0.4, 0.8, 1.0, 1.1, 1.9, 2.2, 3.3, 4.0]),
        node=st.integers(0, 2),
        gpu=st.integers(0, 1),
        values=st.tuples(values, values),
    ),
    min_size=1,
    max_size=25,
)


def as_rows(rows: Sequence[Row], first_position: int = 0) -> Rows:
    def whole(numbers: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(numbers, np.int64)

    return Rows(
        seconds=whole([row.second for row in rows]),
        arrivals=whole([round(row.arrived * MICROSECONDS) for row in rows]),
        generations=whole([row.generation for row in rows]),
        nodes=whole([row.node for row in rows]),
        indices=whole([row.gpu for row in rows]),
        positions=np.arange(first_position, first_position + len(rows)),
        values=np.array([row.values for row in rows], np.float32).T.copy(),
    )


def assembled(parts: Sequence[Sequence[Row]]) -> tuple[list[Moment], int]:
    """What comes out when the parts are read one after the other."""
    assembler = Assembler(JOB, NODES, {Entity.GPU: METRICS})
    moments: list[Moment] = []
    position = 0
    for number, part in enumerate(parts):
        assembler.add(Entity.GPU, as_rows(part, position))
        position += len(part)
        later = [row.arrived for rest in parts[number + 1 :] for row in rest]
        frontier = round(min(later) * MICROSECONDS) if later else None
        moments.extend(assembler.complete(frontier))
    return moments, assembler.repeated


Plain = tuple[int, int, int, dict[tuple[NodeName, int], dict[str, float]]]
"""Arrival, second, generation, and what was said of each machine."""


def plain(moment: Moment) -> Plain:
    batch = moment.fact
    assert isinstance(batch, TelemetryBatch)
    (table,) = batch.tables
    columns = {metric: list(column) for metric, column in table.columns.items()}
    rows = {
        (node, gpu): {m: c[at] for m, c in columns.items() if not math.isnan(c[at])}
        for at, (node, gpu) in enumerate(zip(table.nodes, table.indices or (), strict=True))
    }
    return moment.arrived, batch.second, batch.generation, rows


def reference(rows: Sequence[Row]) -> list[Plain]:
    """The same by hand: rows by second and generation, divided where the settling time is over."""
    slots: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda one: one.arrived):
        slots[row.second, row.generation].append(row)
    batches: list[Plain] = []
    for (second, generation), members in slots.items():
        portions: list[list[Row]] = []
        for row in members:
            if not portions or row.arrived > portions[-1][0].arrived + SETTLE_SECONDS:
                portions.append([])
            portions[-1].append(row)
        for portion in portions:
            said: dict[tuple[NodeName, int], dict[str, float]] = {}
            for row in portion:
                cell = said.setdefault((NODES[row.node], row.gpu), {})
                told = zip(METRICS, row.values, strict=True)
                cell.update({metric: value for metric, value in told if not math.isnan(value)})
            arrived = round(portion[-1].arrived * MICROSECONDS)
            batches.append((arrived, second, generation, said))
    return sorted(batches, key=lambda one: one[:3])


@given(rows=rows_of_any_kind)
def test_batches_are_those_of_a_plain_account(rows: list[Row]) -> None:
    moments, _ = assembled([rows])
    assert [plain(moment) for moment in moments] == reference(rows)


@given(rows=rows_of_any_kind, cuts=st.lists(st.integers(0, 25), max_size=3))
def test_it_makes_no_difference_in_which_portions_rows_are_read(
    rows: list[Row], cuts: list[int]
) -> None:
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    parts = [rows[a:b] for a, b in pairwise(bounds) if b > a]
    in_parts, repeated = assembled(parts)
    at_once, repeated_at_once = assembled([rows])
    assert [plain(one) for one in in_parts] == [plain(one) for one in at_once]
    assert repeated == repeated_at_once


@given(rows=rows_of_any_kind)
def test_rows_of_a_batch_are_sorted_and_each_machine_is_there_once(rows: list[Row]) -> None:
    for moment in assembled([rows])[0]:
        assert isinstance(moment.fact, TelemetryBatch)
        (table,) = moment.fact.tables
        names = list(zip(table.nodes, table.indices or (), strict=True))
        assert names == sorted(set(names))


@pytest.mark.parametrize(
    ("earlier", "later", "repeats"),
    [((1.0, 2.0), (3.0, math.nan), 1), ((1.0, math.nan), (math.nan, 3.0), 0)],
)
def test_a_repeat_is_counted_where_a_value_is_written_over(
    earlier: tuple[float, float], later: tuple[float, float], repeats: int
) -> None:
    rows = [Row(0, 0, 1.0, 0, 0, earlier), Row(0, 0, 1.0, 0, 0, later)]
    assert assembled([rows])[1] == repeats


def test_what_may_still_grow_is_held_back() -> None:
    assembler = Assembler(JOB, NODES, {Entity.GPU: METRICS})
    assembler.add(Entity.GPU, as_rows([Row(s, 0, s + 1.0, 0, 0, (1.0, 1.0)) for s in range(3)]))
    ready = list(assembler.complete(round(3.5 * MICROSECONDS)))
    assert [plain(one) for one in ready] == reference(
        [Row(s, 0, s + 1.0, 0, 0, (1.0, 1.0)) for s in range(2)]
    )
    assert assembler.held == 1
    assert len(list(assembler.complete(None))) == 1
    assert list(assembler.complete(None)) == []


def test_numbers_are_python_s_as_in_a_message() -> None:
    (moment,), _ = assembled([[Row(0, 0, 1.0, 0, 0, (1.5, math.nan))]])
    assert isinstance(moment.fact, TelemetryBatch)
    columns = moment.fact.tables[0].columns
    assert list(columns) == ["m"]
    assert type(columns["m"][0]) is float
    assert np.asarray(columns["m"]).dtype == np.float32
