"""What holds for every order of arrival, every size of job and every moment of a restart."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.contract import Entity, Event, JobName, TelemetryBatch
from paramedic.ingest.windows.clocks import NodeClocks
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows

pytestmark = pytest.mark.long


Batches = Callable[..., TelemetryBatch]
CONFIG = WindowConfig(window_seconds=8, history_seconds=4, ahead_seconds=30)
START = 1_767_225_600
NODES = "abcde"

Samples = dict[tuple[str, int], float]
"""Node and second (counted from the start) to a value."""

samples = st.dictionaries(
    st.tuples(st.sampled_from(NODES), st.integers(0, 25)),
    st.floats(-1e9, 1e9, width=32),
    min_size=1,
)


def deliver(
    node_batch: Batches, values: Samples, delays: Sequence[int] = (0,), copies: int = 1
) -> JobWindows:
    """Delivers every sample late by a delay of its own, all of them within the lateness."""
    windows = JobWindows(CONFIG, JobName("job"))
    late = {key: delays[at % len(delays)] for at, key in enumerate(sorted(values))}
    for node, second in sorted(values, key=lambda key: (key[1] + late[key], late[key], key[0])):
        batch = node_batch(START + second, {node: values[node, second]})
        for _ in range(copies):
            windows.accept(batch, START + second + late[node, second] + 1.0)
    windows.advance(START + max(second for _, second in values) + 1.0)
    return windows


def closed_values(windows: JobWindows, until: int) -> dict[tuple[str, int], float]:
    """What a window shows, by node and second, holes left out."""
    window = windows.window_at(Entity.NODE, until)
    return {
        (key.node, window.first_second + slot - START): float(window.values[row, 0, slot])
        for row, key in enumerate(window.rows)
        for slot in np.flatnonzero(window.observed[row, 0]).tolist()
    }


quickly = settings(max_examples=30, deadline=None)


@quickly
@given(values=samples, delays=st.lists(st.integers(0, 2), min_size=1, max_size=7))
def test_any_order_within_the_lateness_closes_the_same_slots(
    node_batch: Batches, values: Samples, delays: list[int]
) -> None:
    windows = deliver(node_batch, values, delays)
    assert windows.counters().accepted == len(values)
    if windows.watermark is not None:
        last = windows.watermark - START
        expected = {key: v for key, v in values.items() if last - 8 < key[1] <= last}
        assert closed_values(windows, windows.watermark) == expected


@quickly
@given(values=samples, delays=st.lists(st.integers(0, 2), min_size=1, max_size=7))
def test_duplicates_change_nothing_but_their_count(
    node_batch: Batches, values: Samples, delays: list[int]
) -> None:
    once, thrice = (deliver(node_batch, values, delays, copies) for copies in (1, 3))
    assert once.watermark == thrice.watermark
    assert once.counters().duplicate == 0
    assert thrice.counters().duplicate == 2 * len(values)
    if once.watermark is not None:
        assert closed_values(once, once.watermark) == closed_values(thrice, once.watermark)


@settings(quickly, max_examples=15)
@given(size=st.integers(1, 64), seconds=st.integers(5, 20), hole=st.integers(0, 20))
def test_a_machines_slots_do_not_depend_on_the_size_of_the_job(
    node_batch: Batches, size: int, seconds: int, hole: int
) -> None:
    seen = []
    for nodes in (1, size):
        windows = JobWindows(CONFIG, JobName("job"))
        for second in range(seconds):
            row = {f"n{at:02}": float(second + at) for at in range(nodes)}
            row["n00"] = math.nan if second == hole else row["n00"]
            windows.accept(node_batch(START + second, row), START + second + 1.0)
        window = windows.window(Entity.NODE)
        assert len(window.rows) == nodes
        seen.append((window.last_second, window.values[0].copy(), window.observed[0].copy()))
    np.testing.assert_equal(seen[0], seen[1])


@dataclass(frozen=True)
class Step:
    """One thing that happens to the windows."""

    kind: str
    node: str
    second: int
    arrived: float
    generation: int
    value: float


steps = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from(["node", "node", "rank", "rank", "advance", "left", "joined"]),
        node=st.sampled_from(NODES),
        second=st.one_of(st.integers(0, 40), st.integers(-5000, 5000)),
        arrived=st.floats(0, 60),
        generation=st.integers(0, 3),
        value=st.one_of(st.floats(0, 9), st.just(math.nan)),
    ),
    max_size=40,
)


def take(
    windows: JobWindows,
    step: Step,
    node_batch: Batches,
    rank_batch: Batches,
    membership: Callable[..., Event],
) -> list[int]:
    if step.kind == "node":
        windows.accept(
            node_batch(START + step.second, {step.node: step.value}), START + step.arrived
        )
    elif step.kind == "rank":
        row = {(step.node, step.generation): step.value}
        batch = rank_batch(START + step.second, row, generation=step.generation % 2)
        windows.accept(batch, START + step.arrived)
    elif step.kind == "advance":
        return windows.advance(START + step.arrived)
    else:
        windows.membership(membership(step.kind, step.node))
    return []


def shown(windows: JobWindows) -> dict[str, Any]:
    """Everything that can be seen of the windows from outside."""
    parts = [] if windows.watermark is None else [windows.window(entity) for entity in Entity]
    return {
        "counters": windows.counters(),
        "watermark": windows.watermark,
        "rebased": windows.rebased_clocks(),
        "windows": [
            (part.first_second, part.rows, part.metrics, part.generation) for part in parts
        ],
        "values": [part.values.copy() for part in parts],
        "observed": [part.observed.copy() for part in parts],
    }


@quickly
@given(steps=steps, cut=st.integers(0, 40))
def test_a_restart_at_any_moment_changes_nothing(
    node_batch: Batches,
    rank_batch: Batches,
    membership: Callable[..., Event],
    steps: list[Step],
    cut: int,
) -> None:
    straight = JobWindows(CONFIG, JobName("job"))
    restarted = JobWindows(CONFIG, JobName("job"))
    for at, step in enumerate(steps):
        if at == cut:
            snapshot = pickle.loads(pickle.dumps(restarted.snapshot()))
            restarted = JobWindows.resume(CONFIG, snapshot)
        closed = [
            take(windows, step, node_batch, rank_batch, membership)
            for windows in (straight, restarted)
        ]
        assert closed[0] == closed[1]
    np.testing.assert_equal(shown(restarted), shown(straight))


@quickly
@given(steps=steps)
def test_the_watermark_never_goes_back_and_the_mask_tells_holes_from_values(
    node_batch: Batches,
    rank_batch: Batches,
    membership: Callable[..., Event],
    steps: list[Step],
) -> None:
    windows = JobWindows(CONFIG, JobName("job"))
    told: list[int] = []
    watermark = -math.inf
    for step in steps:
        told += take(windows, step, node_batch, rank_batch, membership)
        assert (windows.watermark or -math.inf) >= watermark
        watermark = windows.watermark or -math.inf
    rows = sum(step.kind in ("node", "rank") for step in steps)
    assert windows.counters().received == rows
    assert told == sorted(set(told))
    for values, observed in zip(
        *(shown(windows)[part] for part in ("values", "observed")), strict=True
    ):
        assert (observed == ~np.isnan(values)).all()


@quickly
@given(steps=steps)
def test_what_is_known_of_clocks_does_not_depend_on_when_it_was_asked(
    node_batch: Batches,
    rank_batch: Batches,
    membership: Callable[..., Event],
    steps: list[Step],
) -> None:
    """Heads and spreads are remembered; clocks that were just restored remember nothing."""
    windows = JobWindows(CONFIG, JobName("job"))
    for step in steps:
        take(windows, step, node_batch, rank_batch, membership)
        state = windows.snapshot().timeline.clocks
        assert NodeClocks(CONFIG, state).head() == windows._timeline.clocks.head()


@quickly
@given(
    carriers=st.lists(st.lists(st.sampled_from(NODES), unique=True, max_size=4), max_size=5),
    data=st.data(),
)
def test_only_the_newest_generation_of_a_node_and_of_a_rank_has_a_row(
    rank_batch: Batches, carriers: list[list[str]], data: st.DataObject
) -> None:
    rows = [
        (at, (node, rank)) for at, nodes in enumerate(carriers) for rank, node in enumerate(nodes)
    ]
    windows = JobWindows(CONFIG, JobName("job"))
    for generation in range(len(carriers)):
        # Its rows come in any order, and words of older generations come once more after them.
        spoken = data.draw(st.permutations([row for row in rows if row[0] == generation]))
        echoes = [row for row in rows if row[0] < generation]
        for stated, row in (*spoken, *echoes):
            windows.accept(rank_batch(START + generation, {row: 1.0}, stated), START + generation)
    windows.advance(START + 60.0)
    newest = {party: at for at, row in rows for party in row}
    expected = [row for at, row in rows if all(newest[party] == at for party in row)]
    shown = windows.window(Entity.RANK).rows if rows else ()
    assert [(key.node, key.index) for key in shown] == sorted(expected)
