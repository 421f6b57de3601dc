"""What comes late or in heaps is a sign of life all the same: only what ceases is a silence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from diagnosis.playing import diagnose
from diagnosis.synthetic import START, Scene, node_name, with_columns
from paramedic.diagnosis.contract import Fault
from paramedic.ingest.contract import Entity, TelemetryBatch

pytestmark = pytest.mark.long

NODES = 4
FAR = node_name(3)
"""The node at the end of a link of its own."""
STUCK = 30
"""From then on no step is made: heart-beats and operating systems are all that is heard."""


def of_each_node(seconds: int) -> list[TelemetryBatch]:
    """A batch a node and second, as agents on different machines send them."""
    batches = (
        with_columns([batch], Entity.RANK, {"step": float(min(batch.second - START, STUCK))})[0]
        for batch in Scene(ranks=NODES, seconds=seconds).batches()
    )
    return [_part(batch, number) for batch in batches for number in range(NODES)]


def _part(batch: TelemetryBatch, number: int) -> TelemetryBatch:
    tables = (
        replace(
            table,
            nodes=(table.nodes[number],),
            indices=None if table.indices is None else (table.indices[number],),
            columns={metric: (column[number],) for metric, column in table.columns.items()},
        )
        for table in batch.tables
    )
    return replace(batch, tables=tuple(tables))


def node_of(batch: TelemetryBatch) -> str:
    return batch.tables[0].nodes[0]


def after(batch: TelemetryBatch) -> int:
    return batch.second - START


def over_a_link(
    parts: Sequence[TelemetryBatch], delay: Callable[[int], int]
) -> list[TelemetryBatch]:
    """In order of arrival, when the far node's batches come so many seconds late."""

    def arrival(part: TelemetryBatch) -> tuple[int, int]:
        late = delay(after(part)) if node_of(part) == FAR else 0
        return part.second + late, part.second

    return sorted(parts, key=arrival)


LINKS = [
    pytest.param(lambda second: max(0, min(30, (second - 30) // 2)), id="a queue that grows"),
    pytest.param(lambda second: 9 if second > 30 else 0, id="late all of a sudden"),
    pytest.param(lambda second: 7 - second % 8 if second > 30 else 0, id="eight at a time"),
]


@pytest.mark.parametrize("delay", LINKS)
def test_a_node_whose_telemetry_comes_late_is_alive(delay: Callable[[int], int]) -> None:
    assert diagnose(over_a_link(of_each_node(100), delay)) == []


@pytest.mark.parametrize("late_seconds", [0, 4, 8])
def test_a_node_that_is_cut_off_is_named_in_time_however_late_it_was(late_seconds: int) -> None:
    cut = 64
    parts = over_a_link(of_each_node(100), lambda second: late_seconds if second > 30 else 0)
    arrived = [p for p in parts if node_of(p) != FAR or after(p) + late_seconds <= cut]
    (verdict,) = diagnose(arrived)
    assert (verdict.node, verdict.fault) == (FAR, Fault.MACHINE_UNREACHABLE)
    assert 8 <= verdict.detected_at.timestamp() - START - cut <= 10


def test_what_has_piled_up_of_one_node_after_the_other_is_no_death() -> None:
    """The bus was away for 25 s: when it is back, all of node 0 comes first, and node 3 is last."""
    parts = of_each_node(100)
    piled = sorted((p for p in parts if 40 <= after(p) < 65), key=node_of)
    before = [p for p in parts if after(p) < 40]
    assert diagnose([*before, *piled, *(p for p in parts if after(p) >= 65)]) == []
