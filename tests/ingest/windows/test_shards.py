"""Shards of a large job come one after another; no slot is closed while one is still read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.contract import JobName, TelemetryBatch
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows
from paramedic.ingest.windows.shards import ShardProgress

Batches = Callable[..., TelemetryBatch]
START = 1_767_225_600
SHARDS = ("abc", "def", "ghi", "jkl")
CONFIG = WindowConfig()


class Reader:
    """Windows whose time is that of the stream, as diagnosis runs them."""

    def __init__(self, build: Batches) -> None:
        self.windows = JobWindows(CONFIG, JobName("job"))
        self.now = 0.0
        self._build = build

    def take(self, shard: int, *seconds: int, shards: int = len(SHARDS)) -> list[int]:
        """What closes by these seconds of a shard."""
        closed: list[int] = []
        for second in seconds:
            batch = self._build(START + second, dict.fromkeys(SHARDS[shard], 1.0))
            self.now = max(self.now, batch.second + 1.0)
            self.windows.accept(replace(batch, shard=shard, shards=shards), self.now)
            closed += [at - START for at in self.windows.advance(self.now)]
        return closed

    @property
    def lost(self) -> int:
        """Rows that came and were not used."""
        counters = self.windows.counters()
        return counters.received - counters.accepted


@pytest.fixture
def reader(node_batch: Batches) -> Reader:
    return Reader(node_batch)


@pytest.mark.parametrize("behind", [4, 20])
def test_a_backlog_is_read_shard_by_shard_and_nothing_is_lost(reader: Reader, behind: int) -> None:
    for shard in range(3):
        assert reader.take(shard, *range(behind)) == []
    assert reader.take(3, *range(behind)) == list(range(behind - 3))
    assert reader.lost == 0


def test_a_stall_in_the_middle_costs_nothing_either(reader: Reader) -> None:
    for second in range(10):
        for shard in range(4):
            reader.take(shard, second)
    closed = [at for shard in (2, 0, 3, 1) for at in reader.take(shard, *range(10, 25))]
    assert closed == list(range(7, 22))
    assert reader.lost == 0


def test_a_shard_that_is_gone_is_waited_for_once(reader: Reader) -> None:
    for second in range(8):
        for shard in range(4):
            reader.take(shard, second)
    patience = CONFIG.shard_patience_seconds
    quiet = range(8, 8 + patience)
    assert [at for s in quiet for shard in range(3) for at in reader.take(shard, s)] == []
    ends = 8 + patience
    closed = [at for shard in range(3) for at in reader.take(shard, ends)]
    skipped = reader.windows.counters().skipped_seconds
    assert closed == list(range(5 + skipped, ends - 2))
    assert len(closed) > CONFIG.history_slots
    assert [at for shard in range(3) for at in reader.take(shard, ends + 1)] == [ends - 2]


def test_a_job_that_shrinks_to_fewer_shards_waits_for_none_of_the_others(reader: Reader) -> None:
    for second in range(6):
        for shard in range(4):
            reader.take(shard, second)
    closed = [at for s in range(6, 9) for n in range(2) for at in reader.take(n, s, shards=2)]
    assert closed == [] or closed[-1] <= 5
    assert reader.lost == 0


def test_when_all_shards_are_silent_time_goes_on(reader: Reader) -> None:
    for shard in range(2):
        reader.take(shard, *range(5))
    until = START + 5 + CONFIG.silence_seconds + 10
    assert reader.windows.advance(until) != []


def test_windows_go_on_from_a_snapshot_with_what_they_knew_of_shards(reader: Reader) -> None:
    for shard in range(3):
        reader.take(shard, *range(6))
    reader.windows = JobWindows.resume(CONFIG, reader.windows.snapshot())
    assert reader.take(0, 6) == []
    assert reader.take(3, *range(6)) == [0, 1, 2]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 60)), max_size=20),
    st.integers(0, 60),
)
def test_the_bound_is_never_past_the_head_nor_further_behind_than_the_patience(
    heard: list[tuple[int, int]], head: int
) -> None:
    progress = ShardProgress(10)
    for shard, second in heard:
        progress.hear(shard, 4, second)
    assert head - 10 <= progress.bounded(head) <= head
    assert ShardProgress(10, progress.snapshot()).bounded(head) == progress.bounded(head)


@given(st.lists(st.integers(0, 60), max_size=9))
def test_one_shard_alone_is_bound_by_nothing(seconds: list[int]) -> None:
    progress = ShardProgress(10)
    assert not any(progress.hear(0, 1, second) for second in seconds)
    assert progress.bounded(61) == 61
