"""The process as a member of a group: it outlives the bus, keeps marks, and says how it is."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from diagnosis.playing import merged
from diagnosis.routing.crew import Crew, told
from diagnosis.synthetic import JOB, Scene, exit_of, job_state
from paramedic.diagnosis.routing.report import RoutingReport
from paramedic.diagnosis.service import DiagnoseConfig, run
from paramedic.ingest.bus.memory_group import MemoryGroupBus
from paramedic.ingest.contract import Topic

CONFIG = DiagnoseConfig(group="diagnose", commit_seconds=3.0, report_seconds=2.0)


class World:
    """A bus, and a clock that every look at the stop signal moves by a second."""

    def __init__(self, turns: int, happens: Callable[[int], None] | None = None) -> None:
        self.bus = MemoryGroupBus()
        self.reports: list[RoutingReport] = []
        self.paused: list[float] = []
        self.now = 0.0
        self._turns = turns
        self._happens = happens

    def is_set(self) -> bool:
        self.now += 1.0
        if self._happens is not None:
            self._happens(int(self.now))
        return self.now > self._turns

    def pause(self, seconds: float) -> None:
        self.paused.append(seconds)

    def run(self, config: DiagnoseConfig = CONFIG) -> None:
        run(config, self.bus, lambda: self.now, self, self.reports.append, self.pause)

    def publish_exit(self) -> None:
        crew = Crew(self.bus)
        crew.publish(merged(Scene(seconds=20).batches(), [job_state("training", 0)]))
        crew.publish([exit_of(1, 15.5)])


def test_it_judges_and_keeps_marks() -> None:
    world = World(12)
    world.publish_exit()
    world.run()
    share = world.bus.share_of(f"{JOB}/0")
    assert len(told(Crew(world.bus).verdicts())) == 1
    assert world.bus.marks["diagnose"][share, Topic.TELEMETRY].judged == 20
    assert world.bus.members["diagnose"] == [], "it has left"
    assert world.reports[-1].counts["verdicts"] == 1
    assert world.reports[-1].counts["commits"] >= 3


def test_a_bus_that_is_lost_is_waited_for_and_nothing_is_told_twice(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def happens(now: int) -> None:
        if now == 10:
            world.bus.fail("pulled the plug")
        if now == 20:
            world.bus.heal()

    world = World(40, happens)
    world.publish_exit()
    with caplog.at_level(logging.WARNING):
        world.run()
    said = [r.getMessage() for r in caplog.records if "tries again in 5 s" in r.getMessage()]
    assert said
    assert all("pulled the plug" in line for line in said)
    assert len(Crew(world.bus).verdicts()) == 1
    counts = world.reports[-1].counts
    assert counts["bus_losses"] == len(said)
    assert counts["verdicts"] == 1
    assert counts["shares_gained"] == 8


def test_a_bus_that_is_not_there_at_the_start_is_waited_for() -> None:
    world = World(30, lambda now: world.bus.heal() if now == 12 else None)
    world.publish_exit()
    world.bus.fail("not there yet")
    world.run()
    assert len(Crew(world.bus).verdicts()) == 1


def test_it_ends_when_told_to_while_it_waits_for_the_bus() -> None:
    world = World(8)
    world.bus.fail("gone for good")
    world.run()
    assert world.reports == []
    assert max(world.paused, default=0.0) <= 0.5


def test_without_a_group_it_reads_everything_and_keeps_no_marks() -> None:
    world = World(8)
    world.publish_exit()
    world.run(DiagnoseConfig())
    assert len(Crew(world.bus).verdicts()) == 1
    assert not world.bus.marks
