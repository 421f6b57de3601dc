"""Slots that are kept as they come: nothing is lost, and what is empty takes no room."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.histories.growing import BLOCK_SLOTS, GrowingPast, runs


def window(first: int, values: np.ndarray, nodes: str = "ab", width: int = 1) -> Window:
    """A window of one metric; `values` is (node, slot)."""
    rows = tuple(EntityKey(Entity.NODE, NodeName(node)) for node in nodes)
    block = values[:, None, :].astype(np.float32)
    return Window(
        JobName("job"), 0, Entity.NODE, first, rows, ("m",), block, ~np.isnan(block), width
    )


@settings(max_examples=15)
@given(
    steps=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    width=st.sampled_from([1, 15]),
    seed=st.integers(0, 99),
)
def test_windows_that_overlap_give_what_a_single_window_would(
    steps: list[int], width: int, seed: int
) -> None:
    total, long = sum(steps), 60
    whole = np.random.default_rng(seed).normal(size=(2, total + long))
    past = GrowingPast(Entity.NODE, width)
    taken: int | None = None
    for end in np.cumsum(steps).tolist():
        part = window(width * end, whole[:, end : end + long], width=width)
        past.put(part, taken)
        taken = part.last_second
    first = steps[0]
    found = past.release(range(first, total + long), window(0, whole[:, :1]))
    np.testing.assert_array_equal(found.values[:, 0], whole[:, first:].astype(np.float32))
    assert (found.first_second, found.slot_seconds) == (width * first, width)


def test_rows_that_come_later_are_unknown_before_and_sorted() -> None:
    past = GrowingPast(Entity.NODE, 1)
    past.put(window(0, np.ones((1, 3)), "b"), None)
    past.put(window(3, np.full((2, 3), 2.0), "ab"), 2)
    found = past.release(range(6), window(0, np.ones((1, 1)), "b"))
    assert [row.node for row in found.rows] == ["a", "b"]
    assert found.observed[:, 0].tolist() == [[False] * 3 + [True] * 3, [True] * 6]


def test_what_was_not_observed_takes_no_room() -> None:
    past = GrowingPast(Entity.NODE, 1)
    past.put(window(10, np.full((2, 60), np.nan)), None)
    past.put(window(10 * BLOCK_SLOTS, np.ones((2, 5))), None)
    past.put(window(10**6 * BLOCK_SLOTS, np.ones((2, 5))), None)
    assert past.blocks == {10, 10**6}


def test_long_holes_part_a_past_and_short_ones_do_not() -> None:
    gpus, nodes = GrowingPast(Entity.GPU, 1), GrowingPast(Entity.NODE, 1)
    nodes.put(window(100, np.ones((2, 10))), None)
    gpus.put(window(400, np.ones((2, 10))), None)
    gpus.put(window(5000, np.ones((2, 10))), None)
    pasts = {Entity.GPU: gpus, Entity.NODE: nodes}
    assert runs(pasts, 300) == [range(100, 410), range(5000, 5010)]
    assert runs(pasts, 280) == [range(100, 110), range(400, 410), range(5000, 5010)]
    assert nodes.touches(range(100, 410))
    assert not nodes.touches(range(5000, 5010))
    assert runs({}, 300) == []
