"""Pasts that outgrow their first room, in rows, in metrics and in slots."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.histories.growing import BLOCK_SLOTS, GrowingPast, runs

Known = dict[tuple[str, str, int], float]


def window(first: int, nodes: str, metrics: str, slots: int, start: float = 0.0) -> Window:
    """Numbers that rise from `start`, a letter a node and a letter a metric."""
    shape = (len(nodes), len(metrics), slots)
    values = start + np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    rows = tuple(EntityKey(Entity.NODE, NodeName(node)) for node in nodes)
    seen = np.ones_like(values, np.bool_)
    return Window(JobName("job"), 3, Entity.NODE, first, rows, tuple(metrics), values, seen)


def noted(one: Window) -> Known:
    return {
        (row.node, metric, second): float(one.values[at, column, slot])
        for at, row in enumerate(one.rows)
        for column, metric in enumerate(one.metrics)
        for slot, second in enumerate(one.seconds)
        if one.observed[at, column, slot]
    }


names_of = st.sets(st.sampled_from("abcd"), min_size=1, max_size=3).map(
    lambda s: "".join(sorted(s))
)
parts = st.lists(st.tuples(names_of, names_of, st.integers(1, 90)), min_size=1, max_size=5)


@settings(max_examples=15)
@given(parts)
def test_whoever_joins_and_whatever_is_measured_anew_nothing_is_lost(
    told: list[tuple[str, str, int]],
) -> None:
    past, expected, first = GrowingPast(Entity.NODE, 1), Known(), BLOCK_SLOTS - 20
    for number, (nodes, metrics, slots) in enumerate(told):
        part = window(first, nodes, metrics, slots, start=1e4 * number)
        past.put(part, None)
        expected |= noted(part)
        first += slots
    found = past.release(range(first), window(0, "a", "a", 1))
    assert noted(found) == expected
    assert [row.node for row in found.rows] == sorted({node for node, _, _ in expected})
    assert list(found.metrics) == sorted({metric for _, metric, _ in expected})


def test_what_runs_over_the_end_of_a_block_goes_on_in_the_next() -> None:
    past = GrowingPast(Entity.NODE, 1)
    past.put(window(BLOCK_SLOTS - 2, "a", "m", 5), None)
    assert past.blocks == {0, 1}
    assert past.observed_slots(0).tolist() == [BLOCK_SLOTS - 2, BLOCK_SLOTS - 1]
    assert past.observed_slots(1).tolist() == [BLOCK_SLOTS + at for at in range(3)]


def test_what_is_released_is_gone_and_the_rest_is_not() -> None:
    past, like = GrowingPast(Entity.NODE, 1), window(0, "a", "m", 1)
    past.put(window(5, "a", "m", 3), None)
    past.put(window(9 * BLOCK_SLOTS, "b", "m", 3), None)
    past.release(range(10), like)
    assert past.blocks == {9}
    later = past.release(range(9 * BLOCK_SLOTS, 9 * BLOCK_SLOTS + 3), like)
    assert later.observed[:, 0].tolist() == [[False] * 3, [True] * 3]
    assert (later.generation, past.blocks) == (3, frozenset())


def test_slots_that_were_taken_stay_as_they_were() -> None:
    past = GrowingPast(Entity.NODE, 1)
    past.put(window(0, "a", "m", 4), None)
    past.put(window(2, "a", "m", 4, start=100.0), 3)
    found = past.release(range(6), window(0, "a", "m", 1))
    assert found.values[0, 0].tolist() == [0, 1, 2, 3, 102, 103]


def test_a_window_that_was_taken_whole_brings_nothing() -> None:
    past = GrowingPast(Entity.NODE, 1)
    past.put(window(0, "a", "m", 4), 3)
    assert not past.blocks


@pytest.mark.parametrize(("hole", "expected"), [(3, 2), (4, 1)])
def test_a_hole_parts_when_it_is_longer_than_allowed(hole: int, expected: int) -> None:
    past = GrowingPast(Entity.NODE, 1)
    past.put(window(0, "a", "m", 2), None)
    past.put(window(6, "a", "m", 2), None)
    found = runs({Entity.NODE: past}, hole)
    assert len(found) == expected
    assert (found[0].start, found[-1].stop) == (0, 8)
