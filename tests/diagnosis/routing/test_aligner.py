"""Batches of one shard become one dense slot a second, with everything that came in time."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.diagnosis.routing.aligner import ShardAligner
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch
from paramedic.ingest.windows.configuration import WindowConfig

JOB = JobName("large")
FIRST = 1_780_000_000
LATENESS = WindowConfig().lateness_seconds


def batch(
    second: int, *nodes: str, generation: int = 0, metric: str = "load_average"
) -> TelemetryBatch:
    names = tuple(NodeName(node) for node in nodes)
    table = Table(Entity.NODE, names, None, {metric: tuple(float(second) for _ in nodes)})
    return TelemetryBatch(JOB, generation, FIRST + second, (table,), shard=1, shards=3)


class Shard:
    """An aligner, fed in the time of the stream."""

    def __init__(self) -> None:
        self.aligner = ShardAligner(WindowConfig(), JOB, 1)
        self.now = float(FIRST)

    def take(self, *batches: TelemetryBatch) -> list[TelemetryBatch]:
        slots: list[TelemetryBatch] = []
        for one in batches:
            self.now = max(self.now, one.second + 1.0)
            self.aligner.accept(one, self.now)
            slots += self.aligner.closed(self.now)
        return slots

    def wait(self, seconds: float) -> list[TelemetryBatch]:
        self.now += seconds
        return list(self.aligner.closed(self.now))


def seconds(slots: list[TelemetryBatch]) -> list[int]:
    return [slot.second - FIRST for slot in slots]


def test_a_second_goes_out_when_half_of_the_nodes_are_past_its_lateness() -> None:
    shard = Shard()
    assert shard.take(*(batch(second, "a", "b") for second in range(LATENESS))) == []
    assert seconds(shard.take(batch(LATENESS, "a"))) == [0]


def test_a_slot_holds_what_every_node_said_and_names_its_shard() -> None:
    shard = Shard()
    slots = shard.take(
        batch(0, "a"), batch(0, "b", metric="disk"), batch(1, "a", "b"), batch(4, "a", "b")
    )
    first = slots[0]
    assert (first.job, first.shard, first.shards, first.generation) == (JOB, 1, 3, 0)
    (table,) = first.tables
    assert table.nodes == ("a", "b")
    assert table.columns["load_average"][0] == 0.0
    assert math.isnan(table.columns["load_average"][1])
    assert seconds(slots) == [0, 1]


def test_two_generations_of_one_second_are_two_slots() -> None:
    shard = Shard()
    slots = shard.take(batch(0, "a"), batch(0, "a", generation=1), batch(9, "a", generation=1))
    assert [(slot.second - FIRST, slot.generation) for slot in slots] == [(0, 0), (0, 1)]


def test_what_comes_too_late_is_counted_and_left_out() -> None:
    shard = Shard()
    shard.take(batch(0, "a", "b"), batch(5, "a", "b"))
    assert shard.take(batch(1, "b")) == []
    assert shard.aligner.rows_left_out == 1


def test_seconds_beyond_a_long_pause_all_go_out() -> None:
    shard = Shard()
    before = [batch(second, "a", "b") for second in range(4)]
    slots = shard.take(*before, batch(5000, "a", "b"), batch(5009, "a", "b"))
    assert seconds(slots) == [0, 1, 2, 3, 5000]


def test_the_last_seconds_of_a_job_go_out_when_nothing_comes_any_more() -> None:
    shard = Shard()
    slots = shard.take(*(batch(second, "a") for second in range(6)))
    assert seconds(slots) == [0, 1, 2]
    assert shard.wait(2.0) == []
    slots += shard.wait(60.0)
    assert seconds(slots) == list(range(6))
    assert shard.aligner.is_empty


def test_what_was_held_up_and_comes_at_once_after_a_long_silence_is_all_there() -> None:
    shard = Shard()
    slots = shard.take(*(batch(second, "a") for second in range(6)))
    slots += shard.wait(300.0)
    slots += shard.take(*(batch(second, "a") for second in range(6, 300)))
    assert seconds(slots) == list(range(300 - LATENESS))
    assert shard.aligner.rows_left_out == 0


def test_a_node_whose_clock_is_off_stands_in_the_second_of_the_others() -> None:
    shard, slots = Shard(), list[TelemetryBatch]()
    for second in range(40):
        slots += shard.take(batch(second, "a", "b", "c"), batch(second - 1000, "slow"))
    nodes = {node for slot in slots[20:] for table in slot.tables for node in table.nodes}
    assert nodes == {"a", "b", "c", "slow"}


@pytest.mark.long
@settings(max_examples=15)
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_any_order_within_the_lateness_gives_the_same_slots(chance: object, nodes: int) -> None:
    names = [f"n{number}" for number in range(nodes)]
    facts = [batch(second, name) for second in range(30) for name in names]
    jitter = {id(one): chance.random() * LATENESS for one in facts}  # type: ignore[attr-defined]
    shuffled = sorted(facts, key=lambda one: one.second + jitter[id(one)])
    shard = Shard()
    slots = [*shard.take(*shuffled), *shard.wait(100.0)]
    assert seconds(slots) == list(range(30))
    assert all(sorted(slot.tables[0].nodes) == names for slot in slots)
    assert shard.aligner.rows_left_out == 0
