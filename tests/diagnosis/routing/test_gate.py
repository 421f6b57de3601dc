"""The gate: shards of a job go on together, and one that is gone for good stops nobody."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.routing.gate import SlotGate
from paramedic.ingest.contract import JobName, Message, TelemetryBatch, Topic

PATIENCE_SECONDS = 45.0


class Gate:
    """A gate with the bookkeeping of its caller."""

    def __init__(self, shards: int = 2) -> None:
        self.gate = SlotGate(PATIENCE_SECONDS)
        self.shards = shards
        self.offset = 0

    def enter(self, shard: int, second: int, now: float = 0.0) -> list[tuple[int, int]]:
        slot = TelemetryBatch(JobName("j"), 0, second, (), shard, self.shards)
        self.gate.enter(Message(Topic.SLOTS, "j/0", b"", self.offset), slot, now)
        self.offset += 1
        return self.leave(now)

    def leave(self, now: float, *, has_patience: bool = False) -> list[tuple[int, int]]:
        left = self.gate.leave(now, has_patience=has_patience)
        return [(slot.second, slot.shard) for _, slot in left]


def test_a_second_goes_through_when_every_shard_has_reached_it() -> None:
    gate = Gate()
    assert gate.enter(0, 10) == []
    assert gate.enter(0, 11) == []
    assert gate.enter(1, 10) == [(10, 0), (10, 1)]
    assert gate.enter(1, 12) == [(11, 0)]
    assert gate.gate.oldest_offset == 3


def test_a_shard_without_rows_in_a_second_holds_nobody_once_it_is_beyond() -> None:
    gate = Gate()
    gate.enter(0, 10)
    assert gate.enter(1, 11) == [(10, 0)]


def test_a_shard_that_is_gone_is_given_up_after_the_patience_and_then_waited_for_no_more() -> None:
    gate = Gate()
    gate.enter(0, 10, now=100.0)
    gate.enter(0, 11, now=101.0)
    assert gate.leave(144.9) == []
    assert gate.leave(145.0) == [(10, 0), (11, 0)]
    assert gate.enter(0, 12, now=146.0) == [(12, 0)]
    assert gate.gate.oldest_offset is None


def test_a_shard_that_comes_back_is_waited_for_again_when_it_has_caught_up() -> None:
    gate = Gate()
    gate.enter(0, 10, now=0.0)
    assert gate.leave(50.0) == [(10, 0)]
    assert gate.enter(1, 8, now=51.0) == [(8, 1)], "what comes late stops nobody"
    assert gate.enter(0, 11, now=52.0) == [(11, 0)]
    assert gate.enter(1, 11, now=53.0) == [(11, 1)]
    assert gate.enter(0, 12, now=54.0) == []


def test_while_a_backlog_is_read_nobody_is_given_up() -> None:
    gate = Gate()
    gate.enter(0, 10, now=0.0)
    assert gate.leave(1000.0, has_patience=True) == []


def test_a_job_that_shrinks_does_not_wait_for_shards_it_has_no_more() -> None:
    gate = Gate(shards=3)
    for shard in range(3):
        gate.enter(shard, 10)
    gate.shards = 2
    gate.enter(0, 11)
    assert gate.enter(1, 11) == [(11, 0), (11, 1)]


@given(st.permutations([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]))
def test_whatever_the_shards_do_to_each_other_seconds_go_in_order_and_none_is_lost(
    turns: list[int],
) -> None:
    gate, at = Gate(shards=3), dict.fromkeys(range(3), 10)
    seen = []
    for shard in turns:
        seen += gate.enter(shard, at[shard])
        at[shard] += 1
    assert seen == sorted(seen)
    assert seen == [(second, shard) for second in range(10, 14) for shard in range(3)]
