"""A recording is read in the order in which the live run saw it, however it lies in its files."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.recordings.recorded import (
    START,
    Row,
    batches_of,
    describe,
    gpu_row,
    moment,
    moments_of,
    said,
    write_events,
    write_rows,
)
from paramedic.ingest.contract import Entity, Event, TelemetryBatch
from paramedic.ingest.recordings.moment import MICROSECONDS

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Lying:
    """How rows lie in a file, and how much is read at once."""

    seed: int
    row_group_size: int
    rows_at_once: int


lyings = st.builds(Lying, st.integers(0, 9), st.integers(1, 9), st.integers(1, 40))
delays = st.lists(st.sampled_from([0.2, 0.4, 0.9, 1.4, 2.5, 4.0]), min_size=18, max_size=18)


def rows_with(arrivals: list[float]) -> list[Row]:
    """Six seconds of three nodes, each row so late."""
    return [
        gpu_row(at // 3, "abc"[at % 3], at % 2, float(at)) | {"arrived": moment(at // 3 + 1 + late)}
        for at, late in enumerate(arrivals)
    ]


def lay(folder: Path, rows: list[Row], lying: Lying) -> object:
    """What is read of rows that lie like this."""
    describe(folder, "abc")
    ranks = [row | {"rank": at, "generation": at // 4} for at, row in enumerate(rows[::3])]
    for entity, wanted in (("gpu", list(rows)), ("rank", ranks)):
        random.Random(lying.seed).shuffle(wanted)
        write_rows(folder, entity, wanted, lying.row_group_size)
    return said(moments_of(folder, lying.rows_at_once))


@settings(max_examples=8)
@given(arrivals=delays, lying=lyings, other=lyings)
def test_it_makes_no_difference_how_rows_lie_in_the_files(
    arrivals: list[float], lying: Lying, other: Lying, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("laid")
    rows = rows_with(arrivals)
    assert lay(folder / "one", rows, lying) == lay(folder / "other", rows, other)


@settings(max_examples=8)
@given(arrivals=delays, lying=lyings)
def test_batches_come_in_the_order_of_arrival_and_hold_every_row_once(
    arrivals: list[float], lying: Lying, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = describe(tmp_path_factory.mktemp("laid") / "r", "abc")
    rows = rows_with(arrivals)
    random.Random(lying.seed).shuffle(rows)
    write_rows(folder, "gpu", rows, lying.row_group_size)
    moments = moments_of(folder, lying.rows_at_once)
    assert [one.arrived for one in moments] == sorted(one.arrived for one in moments)
    seen = []
    for one in moments:
        assert isinstance(one.fact, TelemetryBatch)
        (table,) = one.fact.tables
        for node, gpu, power in zip(
            table.nodes, table.indices or (), table.columns["gpu_power_watts"], strict=True
        ):
            seen.append((one.fact.second, node, gpu, power))
            own = START + float(power) // 3 + 1 + arrivals[int(power)]
            late_by = one.arrived / MICROSECONDS - own
            assert -1e-5 <= late_by <= 1.0 + 1e-5, "a row waits for its batch, a second at most"
    expected = [
        (int(r["timestamp"].timestamp()), r["node"], r["gpu"], r["gpu_power_watts"]) for r in rows
    ]
    assert sorted(seen) == sorted(expected)


def test_without_arrivals_a_second_is_one_batch_that_came_when_it_was_over(tmp_path: Path) -> None:
    write_rows(describe(tmp_path), "gpu", [gpu_row(1), gpu_row(0, "b"), gpu_row(0), gpu_row(1.7)])
    moments = moments_of(tmp_path)
    assert [one.arrived for one in moments] == [
        (START + 1) * MICROSECONDS, (START + 2) * MICROSECONDS
    ]  # fmt: skip
    assert [batch.tables[0].nodes for batch in batches_of(tmp_path)] == [("a", "b"), ("a",)]


def test_a_row_that_comes_much_later_is_a_further_batch_of_its_second(tmp_path: Path) -> None:
    late = gpu_row(0, "b", power=7.0) | {"arrived": moment(4.5)}
    rows = [gpu_row(second) | {"arrived": moment(second + 1.1)} for second in range(5)]
    write_rows(describe(tmp_path), "gpu", [*rows, late])
    assert [batch.second - START for batch in batches_of(tmp_path)] == [0, 1, 2, 3, 0, 4]


def test_rows_of_all_entities_meet_in_one_batch(tmp_path: Path) -> None:
    describe(tmp_path)
    key = {"timestamp": moment(0), "node": "a"}
    write_rows(tmp_path, "node", [key | {"load_average": 1.0}])
    write_rows(tmp_path, "gpu", [gpu_row(0)])
    write_rows(tmp_path, "rank", [key | {"rank": 3, "step": 12.0}])
    (batch,) = batches_of(tmp_path)
    assert [(one.entity, one.indices) for one in batch.tables] == [
        (Entity.NODE, None), (Entity.GPU, (0,)), (Entity.RANK, (3,))
    ]  # fmt: skip


def test_the_same_rows_have_the_same_names_by_which_plans_are_found(tmp_path: Path) -> None:
    write_rows(describe(tmp_path), "gpu", [gpu_row(s, n) for s in range(3) for n in "ab"], 1)
    first, second, third = (batch.tables[0] for batch in batches_of(tmp_path))
    assert first.nodes is second.nodes is third.nodes
    assert first.indices is second.indices is third.indices


def test_an_event_comes_before_the_batch_of_the_second_it_happened_in(tmp_path: Path) -> None:
    write_rows(describe(tmp_path), "gpu", [gpu_row(0), gpu_row(1), gpu_row(2)])
    write_events(
        tmp_path,
        {"timestamp": "2026-01-01T00:00:01.4Z", "kind": "maintenance", "node": "a"},
        {"timestamp": "2026-01-01T00:00:01Z", "kind": "xid", "node": "a", "gpu": 0, "xid": 79},
    )
    facts = [one.fact for one in moments_of(tmp_path)]
    kinds = [fact.kind.value if isinstance(fact, Event) else fact.second - START for fact in facts]
    assert kinds == [0, "xid", "maintenance", 1, 2]


def test_an_event_that_was_heard_of_late_comes_late(tmp_path: Path) -> None:
    write_rows(describe(tmp_path), "gpu", [gpu_row(second) for second in range(4)])
    early = {
        "timestamp": "2026-01-01T00:00:00Z",
        "kind": "xid",
        "arrived": "2026-01-01T00:00:03.5Z",
    }
    write_events(tmp_path, early)
    facts = [one.fact for one in moments_of(tmp_path)]
    assert [isinstance(fact, Event) for fact in facts] == [False, False, False, True, False]
    (event,) = (fact for fact in facts if isinstance(fact, Event))
    assert "arrived" not in event.details


def test_a_row_that_does_not_say_when_it_came_came_when_its_second_was_over(tmp_path: Path) -> None:
    rows = [gpu_row(0) | {"arrived": moment(9)}, gpu_row(1, "b") | {"arrived": None}]
    write_rows(describe(tmp_path), "gpu", rows)
    assert [batch.second - START for batch in batches_of(tmp_path)] == [1, 0]
