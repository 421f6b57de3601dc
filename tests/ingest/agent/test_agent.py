"""The agent's second with fake clock, processes and socket."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event

import pytest

from paramedic.ingest.agent.agent import Agent, AgentPorts
from paramedic.ingest.agent.clock import FakeClock
from paramedic.ingest.agent.configuration import AgentConfig
from paramedic.ingest.agent.errors import RefusalReason, SampleError
from paramedic.ingest.agent.inbox import FakeInbox
from paramedic.ingest.agent.sampling import FakeSampler, Machine, ProcessTotals, TreeReading
from paramedic.ingest.agent.watched import WatchedProcess, WatchList
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.contract import (
    BusAddressError,
    BusUnavailableError,
    Entity,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)

JOB = JobName("job")
A, B = NodeName("a"), NodeName("b")
START = 1000.4


def tree(process_id: int, cpu_seconds: float = 0.0, disk_bytes: int | None = 0) -> TreeReading:
    return TreeReading((ProcessTotals(process_id, 1.0, cpu_seconds, 0, disk_bytes, 10, False),))


def report(node: NodeName, rank: int, second: int, generation: int = 0, **values: float) -> bytes:
    columns = {metric: (value,) for metric, value in (values or {"heartbeat": 1.0}).items()}
    table = Table(Entity.RANK, (node,), (rank,), columns)
    return encode(TelemetryBatch(JOB, generation, second, (table,)))


class World:
    """An agent with everything around it faked."""

    def __init__(self, arrivals: Iterable[tuple[float, bytes]] = (), **settings: int) -> None:
        self.clock = FakeClock(START)
        self.sampler = FakeSampler(Machine(cpus=2, memory_bytes=100))
        self.sampler.set({1: tree(1), 2: tree(2)})
        self.watch = WatchList([WatchedProcess(A, 1, 0), WatchedProcess(B, 2, 1)])
        self.published: list[TelemetryBatch] = []
        self.dead: list[tuple[bytes, str]] = []
        self.bus_error: Exception | None = None
        self.on_publish: Callable[[], None] = lambda: None
        self.on_dead_letter: Callable[[], None] = lambda: None
        self.stop = Event()
        self.agent = Agent(
            AgentConfig(JOB, Path("t.sock"), **settings),
            self.watch,
            AgentPorts(
                self.clock,
                self.sampler,
                FakeInbox(self.clock, arrivals),
                self._publish,
                self._bury,
            ),
        )

    def run(self, seconds: int) -> None:
        for _ in range(seconds):
            self.agent.run_second(self.stop)

    def ranks(self) -> list[tuple[int, int, dict[str, tuple[float, ...]]]]:
        """Second, generation and columns of each published rank table."""
        return [
            (batch.second, batch.generation, {m: tuple(c) for m, c in table.columns.items()})
            for batch in self.published
            for table in batch.tables
            if table.entity is Entity.RANK
        ]

    def nodes(self) -> list[tuple[NodeName, ...]]:
        """The nodes of each published node table."""
        return [
            table.nodes
            for batch in self.published
            for table in batch.tables
            if table.entity is Entity.NODE
        ]

    def _publish(self, batch: TelemetryBatch) -> None:
        self.on_publish()
        if self.bus_error is not None:
            raise self.bus_error
        self.published.append(batch)

    def _bury(self, payload: bytes, reason: str) -> None:
        self.on_dead_letter()
        if self.bus_error is not None:
            raise self.bus_error
        self.dead.append((payload, reason))


def test_each_second_is_published_once_when_it_has_ended() -> None:
    world = World()
    world.run(3)
    assert [batch.second for batch in world.published] == [1000, 1001, 1002]
    assert world.clock.wall_seconds() == pytest.approx(1003.15)
    assert world.nodes() == [(A, B)] * 3


def test_rates_begin_with_the_second_reading() -> None:
    world = World()
    world.run(1)
    world.sampler.set({1: tree(1, cpu_seconds=1.0), 2: tree(2)})
    world.run(1)
    first, second = (batch.tables[0].columns for batch in world.published)
    assert "cpu_utilization_ratio" not in first
    assert list(second["cpu_utilization_ratio"]) == pytest.approx([0.5, 0.0])


def test_reports_that_come_just_after_the_second_leave_with_it() -> None:
    world = World([(1001.05, report(A, 0, 1000)), (1001.9, report(B, 1, 1000))])
    world.run(2)
    assert [(batch.second, len(batch.tables)) for batch in world.published] == [
        (1000, 2),
        (1000, 1),
        (1001, 1),
    ]


def test_the_generation_stays_when_no_rank_speaks() -> None:
    world = World([(1001.05, report(A, 0, 1000, generation=4))])
    world.run(2)
    assert [batch.generation for batch in world.published] == [4, 4]


def test_a_process_that_is_gone_has_no_row() -> None:
    world = World()
    world.run(1)
    world.sampler.set({1: tree(1)})
    world.run(1)
    assert world.nodes() == [(A, B), (A,)]
    assert world.agent.counters().sample_failures == 0


def test_an_error_costs_the_row_of_that_process_only() -> None:
    world = World()
    world.sampler.set({1: SampleError("denied"), 2: tree(2)})
    world.run(1)
    assert world.nodes() == [(B,)]
    assert world.agent.counters().sample_failures == 1


def test_the_watch_list_can_change_between_two_seconds() -> None:
    world = World([(1001.5, report(B, 0, 1001))])
    world.run(1)
    world.watch.replace([WatchedProcess(B, 2, 0)])
    world.run(1)
    assert world.nodes() == [(A, B), (B,)]
    assert world.agent.counters().refused_datagrams == {}


def test_a_spare_that_gets_a_rank_keeps_its_rates() -> None:
    world = World()
    world.run(1)
    world.watch.replace([WatchedProcess(B, 2, 7)])
    world.run(1)
    assert "cpu_utilization_ratio" in world.published[1].tables[0].columns


def test_a_worker_that_is_replaced_within_a_second_leaves_no_word_in_its_successors_name() -> None:
    spare = NodeName("s")
    world = World(
        [
            (1000.5, report(A, 0, 1000, step=7.0)),
            (1000.6, b"the moment of the change"),
            (1000.7, report(A, 0, 1000, step=8.0)),
            (1000.8, report(spare, 0, 1000, generation=1, step=7.5)),
        ]
    )
    world.on_dead_letter = lambda: world.watch.replace(
        [WatchedProcess(B, 2, 1), WatchedProcess(spare, 3, 0)]
    )
    world.sampler.set({2: tree(2), 3: tree(3)})
    world.run(1)
    assert world.ranks() == [(1000, 0, {"step": (7.0,)}), (1000, 1, {"step": (7.5,)})]
    assert world.nodes() == [(B, spare)]
    assert [batch.generation for batch in world.published] == [0, 1]
    assert world.agent.counters().refused_datagrams[RefusalReason.FOREIGN_NODE] == 1


def test_two_words_of_one_rank_for_one_second_are_one_row() -> None:
    early, late = (report(A, 0, 1000, step=step, loss=loss) for step, loss in ((1, 3.0), (2, 2.5)))
    world = World([(1000.6, early), (1000.9, late)])
    world.run(1)
    assert world.ranks() == [(1000, 0, {"loss": (2.5,), "step": (2.0,)})]


def test_a_word_that_comes_after_its_second_has_left_follows_in_a_batch_of_its_own() -> None:
    world = World([(1000.6, report(A, 0, 1000, step=1)), (1001.6, report(A, 0, 1000, loss=2.5))])
    world.run(2)
    assert world.ranks() == [(1000, 0, {"step": (1.0,)}), (1000, 0, {"loss": (2.5,)})]


def test_disk_bytes_that_the_system_does_not_tell_are_nan_in_that_column_alone() -> None:
    world = World()
    world.sampler.set({1: tree(1, disk_bytes=None), 2: tree(2, disk_bytes=500)})
    world.run(2)
    columns = world.published[1].tables[0].columns
    assert math.isnan(columns["disk_throughput_bytes_per_second"][0])
    assert columns["disk_throughput_bytes_per_second"][1] == 0.0
    assert not any(
        math.isnan(value)
        for metric, column in columns.items()
        for value in column
        if metric != "disk_throughput_bytes_per_second"
    )


def test_what_is_refused_goes_to_the_dead_letters_with_its_reason() -> None:
    world = World([(1000.5, b"noise"), (1000.6, report(NodeName("x"), 0, 1000))])
    world.run(1)
    assert world.agent.counters().refused_datagrams == {
        RefusalReason.MALFORMED: 1,
        RefusalReason.FOREIGN_NODE: 1,
    }
    assert world.dead[0][0] == b"noise"
    assert "'x' is not watched" in world.dead[1][1]


def test_a_flood_is_refused_beyond_the_limit() -> None:
    flood = [(1000.5, report(A, 0, second)) for second in range(5)]
    world = World(flood, pending_datagrams=3)
    world.run(1)
    assert world.agent.counters().refused_datagrams == {RefusalReason.OVERFLOW: 2}


def test_a_bus_that_comes_back_gets_what_it_missed() -> None:
    world = World([(1001.5, b"noise")])
    world.bus_error = BusUnavailableError("away")
    world.run(3)
    assert world.published == []
    world.bus_error = None
    world.run(1)
    assert [batch.second for batch in world.published] == [1000, 1001, 1002, 1003]
    assert world.agent.counters().lost_dead_letters == 1


def test_a_bus_that_stays_away_costs_the_oldest_seconds() -> None:
    world = World(outbox_batches=2)
    world.bus_error = BusUnavailableError("away")
    world.run(4)
    world.bus_error = None
    world.run(1)
    assert [batch.second for batch in world.published] == [1003, 1004]
    assert world.agent.counters().dropped_batches == 3


@pytest.mark.parametrize(("seconds_away", "lost"), [(59, 0), (60, 1), (75, 16)])
def test_of_a_long_absence_of_the_bus_the_newest_minute_is_kept_and_leaves_at_once(
    seconds_away: int, lost: int
) -> None:
    world = World([(1000.5 + n, report(A, 0, 1000 + n)) for n in range(100)])
    world.bus_error = BusUnavailableError("away")
    world.run(seconds_away)
    world.bus_error = None
    world.run(1)
    seconds = [batch.second for batch in world.published]
    assert seconds == list(range(1000 + lost, 1001 + seconds_away))
    assert [len(batch.tables) for batch in world.published] == [2] * len(seconds)
    assert world.agent.counters().dropped_batches == lost
    assert world.agent.counters().missed_ticks == 0


def test_an_address_that_can_never_work_ends_the_agent_loudly() -> None:
    world = World()
    world.bus_error = BusAddressError("nowhere")
    with pytest.raises(BusAddressError):
        world.agent.run(world.stop)


def test_seconds_lost_to_a_slow_bus_are_counted_and_not_made_up() -> None:
    world = World()
    world.on_publish = lambda: world.clock.pass_time(2.5)
    world.run(1)
    world.on_publish = lambda: None
    world.run(1)
    assert [batch.second for batch in world.published] == [1000, 1003]
    assert world.agent.counters().missed_ticks == 2


def test_a_clock_that_is_set_is_followed() -> None:
    world = World()
    world.run(1)
    world.clock.set_wall(5000.5)
    world.run(1)
    world.on_publish = lambda: world.clock.set_wall(100.0)
    world.run(1)
    world.on_publish = lambda: None
    world.run(2)
    assert [batch.second for batch in world.published] == [1000, 5000, 5001, 100, 101]


def test_a_clock_that_steps_back_ten_seconds_names_them_again_and_distorts_no_rate() -> None:
    world = World([(1005.5, b"the moment of the step")])
    world.on_dead_letter = lambda: world.clock.set_wall(995.5)
    for _ in range(10):
        world.sampler.set({1: tree(1, cpu_seconds=world.clock.monotonic_seconds()), 2: tree(2)})
        world.run(1)
    seconds = [batch.second for batch in world.published]
    assert seconds == [1000, 1001, 1002, 1003, 1004, 995, 996, 997, 998]
    assert world.agent.counters().missed_ticks == 0
    for batch in world.published[1:]:
        assert 0 <= batch.tables[0].columns["cpu_utilization_ratio"][0] <= 0.8


def test_a_clock_that_is_set_back_during_a_wait_does_not_stall_the_agent() -> None:
    world = World([(1000.7, b"noise")])
    world.on_dead_letter = lambda: world.clock.set_wall(100.0)
    world.run(3)
    assert [batch.second for batch in world.published] == [100, 101]
    assert world.clock.wall_seconds() == pytest.approx(102.15)


def test_it_stops_when_told_to() -> None:
    world = World()

    def stop_after_three() -> None:
        if len(world.published) == 2:
            world.stop.set()

    world.on_publish = stop_after_three
    world.agent.run(world.stop)
    assert [batch.second for batch in world.published] == [1000, 1001, 1002]
